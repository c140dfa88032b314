//! Every address of a file: whoever is given one can fetch it.

use roundtable_domain::MediaError;
use roundtable_testkit::Hidden;

use super::reads::Reader;

impl Reader<'_> {
    /// Every address that somebody is given.
    pub(crate) async fn files(&mut self) {
        let Reader { hidden: Hidden { town, files, .. }, viewer, .. } = *self;
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
