//! Turns an `async fn` into a function that returns a boxed future.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericParam, ImplItem, ImplItemFn, ItemImpl, Lifetime, ReceiverKind, ReturnType, Signature,
    TypeImplTrait, TypeReference, Visibility, parse_quote,
};

pub(crate) fn boxed(mut service: ItemImpl) -> TokenStream {
    for item in &mut service.items {
        if let ImplItem::Fn(function) = item
            && is_public_async(function)
            && !is_generic(&function.sig)
        {
            box_future(function);
        }
    }
    service.into_token_stream()
}

fn is_public_async(function: &ImplItemFn) -> bool {
    function.sig.asyncness.is_some() && matches!(function.vis, Visibility::Public(_))
}

fn is_generic(signature: &Signature) -> bool {
    let mut finder = ImplTraitFinder { found: false };
    finder.visit_signature_mut(&mut signature.clone());
    finder.found || signature.generics.type_params().next().is_some()
}

/// Looks for `impl Trait` types.
struct ImplTraitFinder {
    found: bool,
}

impl VisitMut for ImplTraitFinder {
    fn visit_type_impl_trait_mut(&mut self, _: &mut TypeImplTrait) {
        self.found = true;
    }
}

fn box_future(function: &mut ImplItemFn) {
    let ImplItemFn { sig, block, .. } = function;
    let lifetime = Lifetime::new("'future", Span::call_site());
    let mut namer = LifetimeNamer { lifetime: &lifetime };
    sig.inputs.iter_mut().for_each(|input| namer.visit_fn_arg_mut(input));
    namer.visit_return_type_mut(&mut sig.output);
    let outer = sig.generics.lifetimes().map(|named| named.lifetime.clone()).collect::<Vec<_>>();
    sig.generics.params.insert(0, GenericParam::Lifetime(parse_quote!(#lifetime)));
    for named in outer {
        sig.generics.make_where_clause().predicates.push(parse_quote!(#named: #lifetime));
    }
    let output = match &sig.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, output) => output.clone(),
    };
    sig.asyncness = None;
    sig.output = parse_quote! {
        -> ::std::pin::Pin<
            ::std::boxed::Box<dyn ::std::future::Future<Output = #output> + ::std::marker::Send + #lifetime>
        >
    };
    let statements = &block.stmts;
    *block = parse_quote! {{
        ::std::boxed::Box::pin(async move {
            // An async block cannot name its output type, and `?` needs to know it.
            if let ::std::option::Option::Some(never) = ::std::option::Option::None::<#output> {
                return never;
            }
            #(#statements)*
        })
    }};
}

/// Gives every elided lifetime the same name: the future lives as long as everything it borrows.
struct LifetimeNamer<'a> {
    lifetime: &'a Lifetime,
}

impl VisitMut for LifetimeNamer<'_> {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime.get_or_insert_with(|| self.lifetime.clone());
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_receiver_kind_mut(&mut self, receiver: &mut ReceiverKind) {
        if let ReceiverKind::Reference(_, lifetime, _) = receiver {
            lifetime.get_or_insert_with(|| self.lifetime.clone());
        }
        visit_mut::visit_receiver_kind_mut(self, receiver);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.lifetime.clone();
        }
    }
}
