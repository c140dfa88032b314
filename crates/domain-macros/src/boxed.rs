//! How an `async fn` becomes a function that answers with a box.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericParam, ImplItem, ImplItemFn, ItemImpl, Lifetime, ReceiverKind, ReturnType, Signature,
    TypeImplTrait, TypeReference, Visibility, parse_quote,
};

/// The same `impl`, with its public futures in boxes.
pub(crate) fn boxed(mut service: ItemImpl) -> TokenStream {
    for item in &mut service.items {
        if let ImplItem::Fn(function) = item
            && is_called_from_elsewhere(function)
            && !is_generic(&function.sig)
        {
            put_into_box(function);
        }
    }
    service.into_token_stream()
}

fn is_called_from_elsewhere(function: &ImplItemFn) -> bool {
    function.sig.asyncness.is_some() && matches!(function.vis, Visibility::Public(_))
}

fn is_generic(signature: &Signature) -> bool {
    let mut looks = LooksForImpl { found: false };
    looks.visit_signature_mut(&mut signature.clone());
    looks.found || signature.generics.type_params().next().is_some()
}

/// Whether anything is said to be `impl Something`.
struct LooksForImpl {
    found: bool,
}

impl VisitMut for LooksForImpl {
    fn visit_type_impl_trait_mut(&mut self, _: &mut TypeImplTrait) {
        self.found = true;
    }
}

fn put_into_box(function: &mut ImplItemFn) {
    let ImplItemFn { sig, block, .. } = function;
    let life = Lifetime::new("'future", Span::call_site());
    let mut names = NamesLifetimes { life: &life };
    sig.inputs.iter_mut().for_each(|input| names.visit_fn_arg_mut(input));
    names.visit_return_type_mut(&mut sig.output);
    let longer = sig.generics.lifetimes().map(|named| named.lifetime.clone()).collect::<Vec<_>>();
    sig.generics.params.insert(0, GenericParam::Lifetime(parse_quote!(#life)));
    for named in longer {
        sig.generics.make_where_clause().predicates.push(parse_quote!(#named: #life));
    }
    let answer = match &sig.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, answer) => answer.clone(),
    };
    sig.asyncness = None;
    sig.output = parse_quote! {
        -> ::std::pin::Pin<
            ::std::boxed::Box<dyn ::std::future::Future<Output = #answer> + ::std::marker::Send + #life>
        >
    };
    let statements = &block.stmts;
    *block = parse_quote! {{
        ::std::boxed::Box::pin(async move {
            // A block cannot say what it answers with, and `?` has to know.
            if let ::std::option::Option::Some(never) = ::std::option::Option::None::<#answer> {
                return never;
            }
            #(#statements)*
        })
    }};
}

/// Gives one name to every lifetime that has none: the future lives as long as all it borrows.
struct NamesLifetimes<'a> {
    life: &'a Lifetime,
}

impl VisitMut for NamesLifetimes<'_> {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime.get_or_insert_with(|| self.life.clone());
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_receiver_kind_mut(&mut self, receiver: &mut ReceiverKind) {
        if let ReceiverKind::Reference(_, life, _) = receiver {
            life.get_or_insert_with(|| self.life.clone());
        }
        visit_mut::visit_receiver_kind_mut(self, receiver);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.life.clone();
        }
    }
}
