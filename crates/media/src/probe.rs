//! Probes of an object store: what services do, done once.

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload};

use crate::objects::{probe_copy_path, probe_path, probes_path};

const CONTENT: &[u8] = b"a probe of the server; it may be deleted";

/// An operation that services need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeStep {
    List,
    Write,
    Copy,
    Read,
    Delete,
}

/// Lists files, then writes, copies, reads and deletes a small one; returns the step that failed.
pub(crate) async fn probe(store: &dyn ObjectStore, name: &str) -> Result<(), (ProbeStep, Error)> {
    let failed = |step| move |error| (step, error);
    let invalid = |error| (ProbeStep::Write, Error::InvalidPath { source: error });
    let (upload, copy) =
        (probe_path(name).map_err(invalid)?, probe_copy_path(name).map_err(invalid)?);
    // First: some servers create a missing bucket with its first object.
    let mut listed = store.list(Some(&probes_path().map_err(invalid)?));
    listed.try_next().await.map_err(failed(ProbeStep::List))?;
    let content = PutPayload::from(Bytes::from_static(CONTENT));
    store.put(&upload, content).await.map_err(failed(ProbeStep::Write))?;
    store.copy(&upload, &copy).await.map_err(failed(ProbeStep::Copy))?;
    let found = async { store.get(&copy).await?.bytes().await };
    found.await.map_err(failed(ProbeStep::Read))?;
    for at in [&upload, &copy] {
        store.delete(at).await.map_err(failed(ProbeStep::Delete))?;
    }
    Ok(())
}
