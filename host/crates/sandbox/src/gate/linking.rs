//! Links `wasi:http` to the gate in a guest's store.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, IoError};
use wasmtime_wasi_http::{Error, WasiHttpView};

/// The interface whose `http-error-code` function wasmtime does not implement correctly.
const TYPES: &str = "wasi:http/types@0.2.12";

pub fn add_to_linker<S: WasiHttpView + 'static>(linker: &mut Linker<S>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    // wasmtime's own returns `none` for a body that broke off, because it looks for another error type.
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap(
        "http-error-code",
        |mut store: StoreContextMut<'_, S>, (error,): (Resource<IoError>,)| {
            let http = store.data_mut().http();
            Ok((error_code(http.table.get(&error)?),))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

fn error_code(error: &IoError) -> Option<ErrorCode> {
    if let Some(code) = error.downcast_ref::<ErrorCode>() {
        return Some(code.clone());
    }
    match error.downcast_ref::<Error>()? {
        Error::HttpResponseBodySize(size) => Some(ErrorCode::HttpResponseBodySize(*size)),
        Error::HttpRequestDenied => Some(ErrorCode::HttpRequestDenied),
        Error::Hyper(_) => Some(ErrorCode::ConnectionTerminated),
        _ => None,
    }
}
