//! The users and objects of the samples. The ids are ULIDs of the times at which they were created.

pub(super) const ANA: &str = "01JGXE6N0YM9S346Q3D25VT4F5";
pub(super) const BO: &str = "01JGYENESYV37E3S3E28JT97KB";
pub(super) const CLEO: &str = "01JGZW5NKN6CQ643DZVMXXQKFB";
pub(super) const DAN: &str = "01JH6B8QG6F5KZNWJ47TAN9ZT2";

pub(super) const RUNNERS: &str = "01JH81C8B44MNPZX45HY43KWJR";
pub(super) const ROOM: &str = "01JH81C8B4P1XPA7Z3DJ8FSSZ5";
pub(super) const MESSAGE: &str = "01JJK5NZGVAWSH8VHTPRE95B9E";

pub(super) const GOAL: &str = "01JH2PXBYME0ZBGJ09TQM83XSS";
pub(super) const TASK: &str = "01JH2Q455BSS6YS3C4DWA7N360";
pub(super) const TASK_DONE: &str = "01JH2Q69R396Q14DR9GPQY77ZX";
pub(super) const MILESTONE: &str = "01JH2QEQ3PYYK596NGYA1DQ91K";
pub(super) const QUEST: &str = "01JHA6BZW45GQAPENECFSECZP1";

pub(super) const POST: &str = "01JJM64H601HYGCPWPQ5E6EYCN";
pub(super) const POSTED_AT: &str = "2025-01-27T15:30:00.000Z";
pub(super) const PREVIEW: &str =
    "Sixteen kilometres along the river before breakfast, and for once the hills did not win.";
pub(super) const ACTIVITY: &str = "01JJM64H60DY0YP57RCYBVN5SX";
pub(super) const SHARED_AT: &str = "2025-01-27T16:11:42.609Z";
pub(super) const SHARE_ACTIVITY: &str = "01JJM8GX4HS5AA819X9YP98106";
pub(super) const COMMENT: &str = "01JJM83C8K8VCD1GDJFMGT83PX";
pub(super) const COMMENT_OF_DAN: &str = "01JJMCE3WET891WB09B9Y73MY6";
pub(super) const LIKED_AT: &str = "2025-01-27T15:47:33.126Z";
pub(super) const NOTIFICATION: &str = "01JJM74NM63FCH26W14WMCHWYF";
pub(super) const PICTURE: &str = "media/01JJM62DTW31FZG0X454YG4GFD.jpg";

pub(super) const THREAD: &str = "01JJ2K8S26GCW8T7SWM4FV4DK7";
pub(super) const ASSIST_MESSAGE: &str = "01JJ2KERPV9Q9G8XE6SZAEAVSN";
pub(super) const COMPANY: &str = "01JHFE9M8YTCPM5Q1NXW1RNJ47";
pub(super) const OFFER: &str = "01JHJ8JJB2E65GH2BH8VGS9ZM5";

/// The time since which Ana's activities are fanned out.
pub(super) const PROMOTED_AT: &str = "2025-01-22T04:00:00.871Z";
