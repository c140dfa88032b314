//! Writes documents, and commits them together with the position of the index.

use std::sync::Arc;

use parking_lot::RwLock;
use roundtable_domain::{DocumentState, SearchDocument};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{IndexWriter, ReloadPolicy, TantivyDocument, Term};

use crate::IndexSettings;
use crate::directory::{IndexPosition, StoredIndex};
use crate::error::IndexError;
use crate::find::Finder;

/// Segments are rewritten when this part of their documents was deleted.
const DELETED_RATIO_MAX: f32 = 0.3;

/// The one writer of an index. All methods block.
pub(crate) struct DocumentWriter {
    /// Documents are added under a shared lock, and committed under an exclusive one.
    writer: RwLock<IndexWriter<TantivyDocument>>,
    pub(crate) finder: Arc<Finder>,
}

impl DocumentWriter {
    pub(crate) fn open(stored: &StoredIndex, settings: &IndexSettings) -> Result<Self, IndexError> {
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(settings.writer_bytes.max(IndexSettings::WRITER_BYTES_MIN))
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer = stored.index.writer_with_options(options)?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(DELETED_RATIO_MAX);
        writer.set_merge_policy(Box::new(policy));
        let reader =
            stored.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let finder = Arc::new(Finder { fields: stored.fields, reader });
        Ok(Self { writer: RwLock::new(writer), finder })
    }

    /// Adds documents that are not in the index.
    pub(crate) fn add<'a>(
        &self,
        documents: impl IntoIterator<Item = &'a SearchDocument>,
    ) -> Result<(), IndexError> {
        let writer = self.writer.read();
        for document in documents {
            writer.add_document(self.finder.fields.document(document))?;
        }
        Ok(())
    }

    /// Applies changes in order. Without `may_grow`, only removals.
    pub(crate) fn apply<'a>(
        &self,
        states: impl IntoIterator<Item = &'a DocumentState>,
        may_grow: bool,
    ) -> Result<(), IndexError> {
        let writer = self.writer.read();
        for state in states {
            let key = Term::from_field_text(self.finder.fields.key, &state.key.to_string());
            writer.delete_term(key);
            if let Some(document) = state.document.as_ref().filter(|_| may_grow) {
                writer.add_document(self.finder.fields.document(document))?;
            }
        }
        Ok(())
    }

    /// Makes everything findable that was applied, durably.
    pub(crate) fn commit(&self, position: IndexPosition) -> Result<(), IndexError> {
        let mut writer = self.writer.write();
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&position.to_payload());
        commit.commit()?;
        drop(writer);
        self.finder.reader.reload()?;
        Ok(())
    }
}
