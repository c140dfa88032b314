//! All URLs of files: a viewer who gets one can fetch the file.

use roundtable_domain::MediaError;
use roundtable_testkit::SecretTown;

use super::reads::Reader;

impl Reader<'_> {
    pub(crate) async fn files(&mut self) {
        let Reader { secrets: SecretTown { town, files, .. }, viewer, .. } = *self;
        for key in files {
            let url = town.media().url(viewer, key).await;
            self.note(format!("url of {key}"), url.map(|url| url.url));
        }
        for (key, url) in files.iter().zip(town.media().urls(viewer, files).await.unwrap()) {
            let url = url.ok_or(MediaError::NoSuchMedia);
            self.note(format!("url of {key} among all"), url.map(|url| url.url));
        }
    }
}
