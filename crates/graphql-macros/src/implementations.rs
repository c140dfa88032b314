//! Implementations of the traits of `execution`, which several macros generate.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Generics;

use crate::resolvers::context;

/// The bodies of an implementation of `Object`.
pub(crate) struct ObjectBodies {
    pub(crate) shared_values_type: TokenStream,
    pub(crate) read_shared_values: TokenStream,
    pub(crate) read_edge: TokenStream,
    pub(crate) write_leaf: TokenStream,
}

impl ObjectBodies {
    pub(crate) fn implementation(self, self_ty: impl ToTokens, generics: &Generics) -> TokenStream {
        let Self { shared_values_type, read_shared_values, read_edge, write_leaf } = self;
        let (context, read) = (context(), read_parameters());
        let (parameters, _, condition) = generics.split_for_impl();
        quote! {
            impl #parameters ::roundtable_execution::Object for #self_ty #condition {
                type Context = #context;
                type SharedValues = #shared_values_type;

                fn read_shared_values<'a>(
                    objects: &'a [Self],
                    context: &'a #context,
                    fields: &'a [u16],
                ) -> ::roundtable_execution::BoxFuture<'a, Self::SharedValues> {
                    let _ = (objects, context, fields);
                    #read_shared_values
                }

                fn read_edge<'a>(
                    objects: &'a [Self],
                    #read
                ) -> ::roundtable_execution::BoxFuture<'a, ::roundtable_execution::Column<#context>>
                {
                    let _ = (context, arguments);
                    #read_edge
                }

                fn write_leaf(
                    &self,
                    row: usize,
                    shared_values: &Self::SharedValues,
                    context: &#context,
                    field: u16,
                    out: &mut ::roundtable_execution::Writer,
                ) -> ::core::result::Result<(), ::roundtable_execution::FieldError> {
                    let _ = (row, shared_values, context, field, &out);
                    #write_leaf
                }
            }
        }
    }
}

/// The parameters with which a field of a plan is read.
pub(crate) fn read_parameters() -> TokenStream {
    let context = context();
    quote! {
        context: &'a #context,
        field: u16,
        arguments: &'a ::roundtable_execution::Arguments,
    }
}

/// Returns an implementation of `Output` for values of the schema's type `marker`.
pub(crate) fn output(
    marker: &TokenStream,
    self_ty: impl ToTokens,
    generics: &Generics,
    add_to: &TokenStream,
) -> TokenStream {
    let (context, (parameters, _, condition)) = (context(), generics.split_for_impl());
    quote! {
        impl #parameters ::roundtable_execution::Output<#marker, #context> for #self_ty #condition {
            fn add_to(
                self,
                column: &mut ::roundtable_execution::Column<#context>,
            ) -> ::roundtable_execution::Added {
                #add_to
            }
        }
    }
}
