//! The main table: the answers that the contract requires, not those that the program gives.

use super::stage::Viewer;

/// One line for each object and its operations; operations with the same answers share a line.
///
/// `ok`  done, or shown
/// `no`  answered without it: null, false, or a list without it
/// `400` BAD_REQUEST       `401` UNAUTHENTICATED   `403` FORBIDDEN   `404` NOT_FOUND   `409` CONFLICT
/// `-`   impossible: the operation requires a signed-in user
///
/// `404/ok` marks a known difference: it should be 404, and is ok. A fix must remove the mark.
///
/// A suspended user reads public content and their own, but nothing that requires follows or
/// memberships.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

public post              | posts.post comments.on likes.of                                      | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
public post              | posts.posts posts.stats posts.tagged posts.global                    | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
public post              | search.search                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
public post              | activities.at likes.among                                            | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
public post              | posts.on_day posts.popular likes.has_liked                           | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
public post              | posts.by activities.of likes.by                                      | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
public post              | posts.viewer_states                                                  | -    ok   no   no   no   no   no   no   no   no   no
public post              | likes.like likes.unlike likes.toggle                                 | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
public post              | comments.add shares.share shares.unshare                             | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
public post              | posts.update                                                         | -    ok   403  403  404  403  403  403  403  403  403
public post              | posts.delete                                                         | -    ok   403  403  404  403  403  403  ok   ok   403
public post              | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
public post              | moderation.report_post                                               | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
public post              | moderation.moderate_post moderation.case                             | -    403  403  403  403  403  403  403  ok   ok   403
public post              | moderation.cases                                                     | -    403  403  403  403  403  403  403  ok   ok   403
public post              | moderation.reports moderation.queue                                  | -    403  403  403  403  403  403  403  ok   ok   403

followers' post          | posts.post comments.on likes.of                                      | 404  ok   ok   404  404  404  404  404  ok   ok   404
followers' post          | posts.posts posts.stats posts.tagged likes.has_liked                 | no   ok   ok   no   no   no   no   no   ok   ok   no
followers' post          | search.search                                                        | no   ok   ok   no   no   no   no   no   ok   ok   no
followers' post          | activities.at likes.among                                            | no   ok   ok   no   no   no   no   no   ok   ok   no
followers' post          | posts.global posts.on_day posts.popular                              | no   no   no   no   no   no   no   no   no   no   no
followers' post          | posts.by activities.of likes.by                                      | no   ok   ok   no   404  no   no   no   ok   ok   no
followers' post          | likes.like likes.unlike likes.toggle                                 | -    ok   ok   404  404  404  404  404  ok   ok   403
followers' post          | comments.add shares.unshare                                          | -    ok   ok   404  404  404  404  404  ok   ok   403
followers' post          | shares.share                                                         | -    403  403  404  404  404  404  404  403  403  403
followers' post          | posts.update                                                         | -    ok   403  404  404  404  404  404  403  403  403
followers' post          | posts.delete                                                         | -    ok   403  404  404  404  404  404  ok   ok   403
followers' post          | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
followers' post          | moderation.report_post                                               | -    400  ok   404  404  404  404  404  ok   ok   403
followers' post          | moderation.moderate_post                                             | -    403  403  403  403  403  403  403  ok   ok   403

private post             | posts.post comments.on likes.of                                      | 404  ok   404  404  404  404  404  404  ok   ok   404
private post             | posts.posts posts.stats posts.tagged likes.has_liked                 | no   ok   no   no   no   no   no   no   ok   ok   no
private post             | search.search                                                        | no   ok   no   no   no   no   no   no   ok   ok   no
private post             | activities.at likes.among                                            | no   ok   no   no   no   no   no   no   ok   ok   no
private post             | posts.global posts.on_day posts.popular                              | no   no   no   no   no   no   no   no   no   no   no
private post             | posts.by activities.of likes.by                                      | no   ok   no   no   404  no   no   no   ok   ok   no
private post             | likes.like likes.unlike likes.toggle                                 | -    ok   404  404  404  404  404  404  ok   ok   403
private post             | comments.add shares.unshare                                          | -    ok   404  404  404  404  404  404  ok   ok   403
private post             | shares.share                                                         | -    403  404  404  404  404  404  404  403  403  403
private post             | posts.update                                                         | -    ok   404  404  404  404  404  404  403  403  403
private post             | posts.delete                                                         | -    ok   404  404  404  404  404  404  ok   ok   403
private post             | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
private post             | moderation.report_post                                               | -    400  404  404  404  404  404  404  ok   ok   403
private post             | moderation.moderate_post                                             | -    403  403  403  403  403  403  403  ok   ok   403

private account's post   | posts.post comments.on likes.of                                      | 404  ok   ok   404  404  404  404  404  ok   ok   404
private account's post   | posts.posts posts.stats posts.tagged likes.has_liked                 | no   ok   ok   no   no   no   no   no   ok   ok   no
private account's post   | search.search                                                        | no   ok   ok   no   no   no   no   no   ok   ok   no
private account's post   | activities.at likes.among                                            | no   ok   ok   no   no   no   no   no   ok   ok   no
private account's post   | posts.global posts.on_day posts.popular                              | no   no   no   no   no   no   no   no   no   no   no
private account's post   | posts.by activities.of likes.by                                      | 404  ok   ok   404  404  404  404  404  ok   ok   404
private account's post   | likes.like likes.unlike likes.toggle                                 | -    ok   ok   404  404  404  404  404  ok   ok   403
private account's post   | comments.add shares.unshare                                          | -    ok   ok   404  404  404  404  404  ok   ok   403
private account's post   | shares.share                                                         | -    403  403  404  404  404  404  404  403  403  403
private account's post   | posts.update                                                         | -    ok   403  404  404  404  404  404  403  403  403
private account's post   | posts.delete                                                         | -    ok   403  404  404  404  404  404  ok   ok   403
private account's post   | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
private account's post   | moderation.report_post                                               | -    400  ok   404  404  404  404  404  ok   ok   403
private account's post   | moderation.moderate_post                                             | -    403  403  403  403  403  403  403  ok   ok   403

group's post             | posts.post comments.on likes.of                                      | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
group's post             | posts.posts posts.stats posts.tagged likes.has_liked                 | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
group's post             | search.search                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
group's post             | activities.at likes.among                                            | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
group's post             | posts.global posts.on_day posts.popular                              | no   no   no   no   no   no   no   no   no   no   no
group's post             | posts.by likes.by                                                    | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
group's post             | activities.of                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
group's post             | likes.like likes.unlike likes.toggle                                 | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
group's post             | comments.add shares.unshare                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
group's post             | shares.share                                                         | -    403  403  403  404  403  403  403  403  403  403
group's post             | posts.update                                                         | -    ok   403  403  404  403  403  403  403  403  403
group's post             | posts.delete                                                         | -    ok   403  403  404  403  403  403  ok   ok   403
group's post             | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
group's post             | moderation.report_post                                               | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
group's post             | moderation.moderate_post                                             | -    403  403  403  403  403  403  403  ok   ok   403

private group's post     | posts.post comments.on likes.of activities.of                        | 404  ok   404  404  404  ok   404  ok   ok   ok   404
private group's post     | posts.posts posts.stats posts.tagged likes.has_liked                 | no   ok   no   no   no   ok   no   ok   ok   ok   no
private group's post     | search.search                                                        | no   ok   no   no   no   ok   no   ok   ok   ok   no
private group's post     | activities.at likes.among                                            | no   ok   no   no   no   ok   no   ok   ok   ok   no
private group's post     | posts.global posts.on_day posts.popular                              | no   no   no   no   no   no   no   no   no   no   no
private group's post     | posts.by likes.by                                                    | no   ok   no   no   404  ok   no   ok   ok   ok   no
private group's post     | likes.like likes.unlike likes.toggle                                 | -    ok   404  404  404  ok   404  ok   ok   ok   403
private group's post     | comments.add shares.unshare                                          | -    ok   404  404  404  ok   404  ok   ok   ok   403
private group's post     | shares.share                                                         | -    403  404  404  404  403  404  403  403  403  403
private group's post     | posts.update                                                         | -    ok   404  404  404  403  404  403  403  403  403
private group's post     | posts.delete                                                         | -    ok   404  404  404  403  404  403  ok   ok   403
private group's post     | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
private group's post     | moderation.report_post                                               | -    400  404  404  404  ok   404  ok   ok   ok   403
private group's post     | moderation.moderate_post                                             | -    403  403  403  403  403  403  403  ok   ok   403

pending post             | posts.post comments.on likes.of                                      | 404  ok   404  404  404  404  404  404  ok   ok   404
pending post             | posts.posts posts.stats posts.tagged likes.has_liked                 | no   ok   no   no   no   no   no   no   ok   ok   no
pending post             | search.search                                                        | no   ok   no   no   no   no   no   no   ok   ok   no
pending post             | likes.among                                                          | no   ok   no   no   no   no   no   no   ok   ok   no
pending post             | posts.global                                                         | 401     403  403  403  403  403  403  403  ok   ok   403
pending post             | posts.on_day posts.popular                                           | no   no   no   no   no   no   no   no   no   no   no
pending post             | posts.by likes.by                                                    | no   ok   no   no   404  no   no   no   ok   ok   no
pending post             | activities.of                                                        | no   no   no   no   404  no   no   no   no   no   no
pending post             | likes.like likes.unlike likes.toggle                                 | -    ok   404  404  404  404  404  404  ok   ok   403
pending post             | comments.add shares.unshare                                          | -    ok   404  404  404  404  404  404  ok   ok   403
pending post             | shares.share                                                         | -    403  404  404  404  404  404  404  403  403  403
pending post             | posts.update                                                         | -    ok   404  404  404  404  404  404  403  403  403
pending post             | posts.delete                                                         | -    ok   404  404  404  404  404  404  ok   ok   403
pending post             | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
pending post             | moderation.report_post                                               | -    400  404  404  404  404  404  404  409  409  403
pending post             | moderation.moderate_post moderation.case moderation.queue            | -    403  403  403  403  403  403  403  ok   ok   403
pending post             | moderation.cases                                                     | -    403  403  403  403  403  403  403  ok   ok   403

flagged post             | posts.post comments.on likes.of                                      | 404  ok   404  404  404  404  404  404  ok   ok   404
flagged post             | posts.posts posts.stats posts.tagged likes.has_liked                 | no   ok   no   no   no   no   no   no   ok   ok   no
flagged post             | search.search                                                        | no   ok   no   no   no   no   no   no   ok   ok   no
flagged post             | activities.at likes.among                                            | no   ok   no   no   no   no   no   no   ok   ok   no
flagged post             | posts.global                                                         | 401     403  403  403  403  403  403  403  ok   ok   403
flagged post             | posts.on_day posts.popular                                           | no   no   no   no   no   no   no   no   no   no   no
flagged post             | posts.by likes.by activities.of                                      | no   ok   no   no   404  no   no   no   ok   ok   no
flagged post             | likes.like likes.unlike likes.toggle                                 | -    ok   404  404  404  404  404  404  ok   ok   403
flagged post             | comments.add shares.unshare                                          | -    ok   404  404  404  404  404  404  ok   ok   403
flagged post             | shares.share                                                         | -    403  404  404  404  404  404  404  403  403  403
flagged post             | posts.update                                                         | -    ok   404  404  404  404  404  404  403  403  403
flagged post             | posts.delete                                                         | -    ok   404  404  404  404  404  404  ok   ok   403
flagged post             | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
flagged post             | moderation.report_post                                               | -    400  404  404  404  404  404  404  409  409  403
flagged post             | moderation.moderate_post moderation.case moderation.queue            | -    403  403  403  403  403  403  403  ok   ok   403
flagged post             | moderation.cases                                                     | -    403  403  403  403  403  403  403  ok   ok   403

rejected post            | posts.post comments.on likes.of                                      | 404  ok   404  404  404  404  404  404  ok   ok   404
rejected post            | posts.posts posts.stats posts.tagged likes.has_liked                 | no   ok   no   no   no   no   no   no   ok   ok   no
rejected post            | search.search                                                        | no   ok   no   no   no   no   no   no   ok   ok   no
rejected post            | activities.at likes.among                                            | no   ok   no   no   no   no   no   no   ok   ok   no
rejected post            | posts.global                                                         | 401     403  403  403  403  403  403  403  ok   ok   403
rejected post            | posts.on_day posts.popular                                           | no   no   no   no   no   no   no   no   no   no   no
rejected post            | posts.by likes.by activities.of                                      | no   ok   no   no   404  no   no   no   ok   ok   no
rejected post            | likes.like likes.unlike likes.toggle                                 | -    ok   404  404  404  404  404  404  ok   ok   403
rejected post            | comments.add shares.unshare                                          | -    ok   404  404  404  404  404  404  ok   ok   403
rejected post            | shares.share                                                         | -    403  404  404  404  404  404  404  403  403  403
rejected post            | posts.update                                                         | -    ok   404  404  404  404  404  404  403  403  403
rejected post            | posts.delete                                                         | -    ok   404  404  404  404  404  404  ok   ok   403
rejected post            | activities.post                                                      | -    ok   404  404  404  404  404  404  404  404  403
rejected post            | moderation.report_post                                               | -    400  404  404  404  404  404  404  409  409  403
rejected post            | moderation.moderate_post moderation.case moderation.queue            | -    403  403  403  403  403  403  403  ok   ok   403
rejected post            | moderation.cases                                                     | -    403  403  403  403  403  403  403  ok   ok   403

deleted post             | posts.post comments.on likes.of                                      | 404  404  404  404  404  404  404  404  404  404  404
deleted post             | posts.posts posts.stats posts.tagged posts.global                    | no   no   no   no   no   no   no   no   no   no   no
deleted post             | search.search                                                        | no   no   no   no   no   no   no   no   no   no   no
deleted post             | activities.at likes.among                                            | no   no   no   no   no   no   no   no   no   no   no
deleted post             | posts.on_day posts.popular likes.has_liked                           | no   no   no   no   no   no   no   no   no   no   no
deleted post             | posts.by likes.by activities.of                                      | no   no   no   no   404  no   no   no   no   no   no
deleted post             | likes.like likes.unlike likes.toggle posts.update                    | -    404  404  404  404  404  404  404  404  404  403
deleted post             | comments.add shares.share shares.unshare posts.delete                | -    404  404  404  404  404  404  404  404  404  403
deleted post             | activities.post moderation.report_post                               | -    404  404  404  404  404  404  404  404  404  403
deleted post             | moderation.moderate_post moderation.case moderation.reports          | -    403  403  403  403  403  403  403  404  404  403
deleted post             | moderation.cases                                                     | -    403  403  403  403  403  403  403  no   no   403

suspended account's post | posts.post comments.on likes.of                                      | 404  ok   404  404  404  404  404  404  ok   ok   404
suspended account's post | posts.posts posts.stats posts.tagged likes.has_liked                 | no   ok   no   no   no   no   no   no   ok   ok   no
suspended account's post | search.search                                                        | no   ok   no   no   no   no   no   no   ok   ok   no
suspended account's post | activities.at likes.among                                            | no   ok   no   no   no   no   no   no   ok   ok   no
suspended account's post | posts.on_day posts.popular posts.global                              | no   ok   no   no   no   no   no   no   ok   ok   no
suspended account's post | posts.by likes.by activities.of                                      | 404  ok   404  404  404  404  404  404  ok   ok   404
suspended account's post | likes.like comments.add                                              | -    403  404  404  404  404  404  404  ok   ok   403
suspended account's post | posts.update                                                         | -    403  404  404  404  404  404  404  403  403  403
suspended account's post | posts.delete                                                         | -    403  404  404  404  404  404  404  ok   ok   403
suspended account's post | moderation.report_post                                               | -    403  404  404  404  404  404  404  ok   ok   403
suspended account's post | moderation.moderate_post                                             | -    403  403  403  403  403  403  403  ok   ok   403

deleted account's post   | posts.post comments.on likes.of                                      | 404  404  404  404  404  404  404  404  404    404    404
deleted account's post   | posts.posts posts.stats posts.tagged likes.has_liked                 | no   no   no   no   no   no   no   no   no    no    no
deleted account's post   | search.search                                                        | no   no   no   no   no   no   no   no   no    no    no
deleted account's post   | activities.at likes.among                                            | no   no   no   no   no   no   no   no   no   no   no
deleted account's post   | posts.on_day posts.popular posts.global                              | no   no   no   no   no   no   no   no   no    no    no
deleted account's post   | posts.by likes.by activities.of                                      | 404  404  404  404  404  404  404  404  404    404    404
deleted account's post   | likes.like comments.add shares.share                                 | -    401  404  404  404  404  404  404  404    404    403
deleted account's post   | posts.update                                                         | -    401  404  404  404  404  404  404  404     404     403
deleted account's post   | posts.delete                                                         | -    401  404  404  404  404  404  404  404  404  403
deleted account's post   | moderation.report_post                                               | -    401  404  404  404  404  404  404  404    404    403

comment                  | comments.comment comments.replies comments.on comments.by            | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
comment                  | comments.comments comments.by_ids tags.search                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
comment                  | search.search                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
comment                  | comments.engagement                                                  | no   ok   no   no   no   no   no   no   no   no   no
comment                  | comments.like comments.unlike comments.add                           | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
comment                  | comments.update                                                      | -    ok   403  403  404  403  403  403  403  403  403
comment                  | comments.delete                                                      | -    ok   403  403  404  403  403  403  ok   ok   403
comment                  | moderation.report_comment                                            | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
comment                  | moderation.moderate_comment moderation.case moderation.reports       | -    403  403  403  403  403  403  403  ok   ok   403
comment                  | moderation.cases                                                     | -    403  403  403  403  403  403  403  ok   ok   403

comment below one's post | comments.comment comments.replies comments.on                        | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
comment below one's post | comments.comments comments.by_ids tags.search                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
comment below one's post | search.search                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
comment below one's post | comments.by                                                          | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
comment below one's post | comments.like comments.unlike comments.add                           | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
comment below one's post | comments.update                                                      | -    403  403  403  404  403  403  403  403  403  403
comment below one's post | comments.delete                                                      | -    403  403  403  404  403  403  403  ok   ok   403
comment below one's post | moderation.report_comment                                            | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
comment below one's post | moderation.moderate_comment                                          | -    403  403  403  403  403  403  403  ok   ok   403

hidden comment           | comments.comment comments.replies                                    | 404  ok   404  404  404  404  404  404  ok   ok   404
hidden comment           | comments.comments comments.by_ids tags.search                        | no   ok   no   no   no   no   no   no   ok   ok   no
hidden comment           | search.search                                                        | no   ok   no   no   no   no   no   no   ok   ok   no
hidden comment           | comments.on comments.by                                              | no   ok   no   no   404  no   no   no   ok   ok   no
hidden comment           | comments.like comments.unlike comments.add                           | -    ok   404  404  404  404  404  404  ok   ok   403
hidden comment           | comments.update                                                      | -    ok   404  404  404  404  404  404  403  403  403
hidden comment           | comments.delete                                                      | -    ok   404  404  404  404  404  404  ok   ok   403
hidden comment           | moderation.report_comment                                            | -    400  404  404  404  404  404  404  409  409  403
hidden comment           | moderation.moderate_comment moderation.case moderation.queue         | -    403  403  403  403  403  403  403  ok   ok   403
hidden comment           | moderation.cases                                                     | -    403  403  403  403  403  403  403  ok   ok   403

deleted comment          | comments.comment comments.replies                                    | 404  404  404  404  404  404  404  404  404  404  404
deleted comment          | comments.comments comments.by_ids tags.search                        | no   no   no   no   no   no   no   no   no   no   no
deleted comment          | search.search                                                        | no   no   no   no   no   no   no   no   no   no   no
deleted comment          | comments.on comments.by                                              | no   no   no   no   404  no   no   no   no   no   no
deleted comment          | comments.like comments.unlike comments.add comments.update           | -    404  404  404  404  404  404  404  404  404  403
deleted comment          | comments.delete moderation.report_comment                            | -    404  404  404  404  404  404  404  404  404  403
deleted comment          | moderation.moderate_comment                                          | -    403  403  403  403  403  403  403  404  404  403

comment for followers    | comments.comment comments.replies comments.on                        | 404  ok   ok   404  404  404  404  404  ok   ok   404
comment for followers    | comments.comments comments.by_ids tags.search                        | no   ok   ok   no   no   no   no   no   ok   ok   no
comment for followers    | search.search                                                        | no   ok   ok   no   no   no   no   no   ok   ok   no
comment for followers    | comments.by                                                          | no   ok   ok   no   404  no   no   no   ok   ok   no
comment for followers    | comments.like comments.unlike comments.add                           | -    ok   ok   404  404  404  404  404  ok   ok   403
comment for followers    | comments.update                                                      | -    ok   403  404  404  404  404  404  403  403  403
comment for followers    | comments.delete                                                      | -    ok   403  404  404  404  404  404  ok   ok   403
comment for followers    | moderation.report_comment                                            | -    400  ok   404  404  404  404  404  ok   ok   403
comment for followers    | moderation.moderate_comment                                          | -    403  403  403  403  403  403  403  ok   ok   403

comment in private group | comments.comment comments.replies comments.on                        | 404  ok   404  404  404  ok   404  ok   ok   ok   404
comment in private group | comments.comments comments.by_ids tags.search                        | no   ok   no   no   no   ok   no   ok   ok   ok   no
comment in private group | search.search                                                        | no   ok   no   no   no   ok   no   ok   ok   ok   no
comment in private group | comments.by                                                          | no   ok   no   no   404  ok   no   ok   ok   ok   no
comment in private group | comments.like comments.unlike comments.add                           | -    ok   404  404  404  ok   404  ok   ok   ok   403
comment in private group | comments.update                                                      | -    ok   404  404  404  403  404  403  403  403  403
comment in private group | comments.delete                                                      | -    ok   404  404  404  403  404  403  ok   ok   403
comment in private group | moderation.report_comment                                            | -    400  404  404  404  ok   404  ok   ok   ok   403
comment in private group | moderation.moderate_comment                                          | -    403  403  403  403  403  403  403  ok   ok   403

group                    | groups.get groups.views                                              | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok
group                    | groups.members                                                       | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
group                    | groups.memberships                                                   | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
group                    | groups.of                                                            | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
group                    | groups.mine                                                          | -    ok   no   no   no   ok   no   ok   no   no   403
group                    | groups.update                                                        | -    ok   403  403  403  403  403  ok   403  ok   403
privacy                  | groups.update                                                        | -    ok   403  403  403  403  403  403  403  ok   403
group                    | groups.revive                                                        | -    ok   403  403  403  403  403  403  403  ok   403
group                    | groups.delete                                                        | -    ok   403  403  403  403  403  403  403  ok   403
group                    | groups.join                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
group                    | groups.leave                                                         | -    409  404  404  404  ok   404  ok   404  404  403
group                    | groups.invite                                                        | -    ok   403  403  403  403  403  ok   403  403  403
group                    | groups.remove                                                        | -    ok   403  403  403  403  403  ok   403  ok   403
group                    | groups.set_role                                                      | -    ok   403  403  403  403  403  403  403  403  403
group                    | moderation.report_group                                              | -    400  ok   ok   ok   ok   ok   ok   ok   ok   403
group                    | posts.create                                                         | -    ok   403  403  403  ok   403  ok   403  403  403
group's admin            | groups.remove                                                        | -    ok   403  403  403  403  403  403  403  ok   403
group's owner            | groups.remove                                                        | -    409  403  403  403  403  403  409  403  409  403

private group            | groups.get groups.views                                              | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok
private group            | groups.members                                                       | 404  ok   404  404  404  ok   404  ok   ok   ok   404
private group            | groups.memberships                                                   | no   ok   no   no   no   ok   no   ok   ok   ok   no
private group's request  | groups.memberships                                                   | no   ok   no   no   no   no   no   ok   no   no   no
own membership           | groups.memberships                                                   | no   ok   no   no   no   ok   no   ok   no   no   no
private group            | groups.of                                                            | no   ok   no   no   404  ok   no   ok   ok   ok   no
private group            | groups.mine                                                          | -    ok   no   no   no   ok   no   ok   no   no   403
private group            | groups.update                                                        | -    ok   403  403  403  403  403  ok   403  ok   403
private group            | groups.delete                                                        | -    ok   403  403  403  403  403  403  403  ok   403
private group            | groups.join                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
private group            | groups.leave                                                         | -    409  404  404  404  ok   404  ok   404  404  403
private group            | groups.invite groups.approve                                         | -    ok   403  403  403  403  403  ok   403  403  403
private group            | groups.remove                                                        | -    ok   403  403  403  403  403  ok   403  ok   403
private group            | groups.set_role                                                      | -    ok   403  403  403  403  403  403  403  403  403
private group            | moderation.report_group                                              | -    400  ok   ok   ok   ok   ok   ok   ok   ok   403
private group            | posts.create                                                         | -    ok   403  403  403  ok   403  ok   403  403  403

profile                  | accounts.user accounts.people accounts.by_nickname                   | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
profile                  | search.search                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
profile                  | accounts.by_username accounts.by_handle accounts.counts              | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
profile                  | accounts.by_email                                                    | no   ok   no   no   no   no   no   no   no   ok   no
profile                  | follows.is_following follows.activity_of                             | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
profile                  | follows.among                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
profile                  | follows.following follows.followers                                  | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
profile                  | follows.followed_by                                                  | -    ok   no   no   no   no   no   no   no   no   no
profile                  | follows.followed                                                     | -    no   ok   no   no   no   no   no   no   no   no
profile                  | follows.follow                                                       | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
profile                  | follows.unfollow follows.update                                      | -    404  ok   404  404  404  404  404  404  404  403
profile                  | blocks.block                                                         | -    400  ok   ok   ok   ok   ok   ok   ok   ok   403
profile                  | mutes.mute                                                           | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
profile                  | moderation.report_user                                               | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
profile                  | accounts.suspend accounts.unsuspend                                  | -    403  403  403  403  403  403  403  ok   ok   403
profile                  | accounts.set_roles accounts.login_attempts                           | -    403  403  403  403  403  403  403  403  ok   403
profile                  | accounts.set_tier accounts.set_verified                              | -    403  403  403  403  403  403  403  403  ok   403
profile                  | accounts.delete_account                                              | -    ok   400  400  400  400  400  400  400  400  403
profile                  | accounts.keys                                                        | -    ok   no   no   no   no   no   no   no   no   403
profile                  | accounts.revoke_key                                                  | -    ok   404  404  404  404  404  404  404  404  403
profile                  | accounts.logout_session                                              | -    ok   no   no   no   no   no   no   no   no   no

private profile          | accounts.user accounts.people accounts.by_nickname                   | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
private profile          | search.search                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
private profile          | accounts.by_username accounts.by_handle accounts.counts              | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
private profile          | accounts.by_email                                                    | no   ok   no   no   no   no   no   no   no   ok   no
private profile          | follows.is_following                                                 | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
private profile          | follows.among                                                        | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
private profile          | follows.activity_of                                                  | no   ok   ok   no   no   no   no   no   ok   ok   no
private profile          | follows.following follows.followers                                  | 404  ok   ok   404  404  404  404  404  ok   ok   404
private profile          | follows.followed_by                                                  | -    ok   no   no   no   no   no   no   no   no   no
private profile          | follows.followed                                                     | -    no   ok   no   no   no   no   no   no   no   no
private profile          | follows.follow                                                       | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
private profile          | follows.unfollow follows.update                                      | -    404  ok   404  404  404  404  404  404  404  403
private profile          | blocks.block                                                         | -    400  ok   ok   ok   ok   ok   ok   ok   ok   403
private profile          | mutes.mute                                                           | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
private profile          | moderation.report_user                                               | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
request                  | follows.requests                                                     | -    ok   no   no   no   no   no   no   no   no   403
request                  | follows.among                                                        | no   ok   no   no   no   no   no   no   no   no   no
request                  | follows.accept follows.reject                                        | -    ok   404  404  404  404  404  404  404  404  403
blocked person           | blocks.list                                                          | -    ok   no   no   no   no   no   no   no   no   403
blocked person           | blocks.unblock                                                       | -    ok   404  404  404  404  404  404  404  404  403
muted person             | mutes.list mutes.among                                               | -    ok   no   no   no   no   no   no   no   no   403
muted person             | mutes.unmute                                                         | -    ok   404  404  404  404  404  404  404  404  403

suspended profile        | accounts.user accounts.people accounts.by_nickname                   | no   ok   no   no   no   no   no   no   ok   ok   no
suspended profile        | search.search                                                        | no   ok   no   no   no   no   no   no   ok   ok   no
suspended profile        | accounts.by_username accounts.by_handle accounts.counts              | no   ok   no   no   no   no   no   no   ok   ok   no
suspended profile        | accounts.by_email                                                    | no   ok   no   no   no   no   no   no   no   ok   no
suspended profile        | follows.is_following follows.activity_of                             | no   ok   no   no   no   no   no   no   ok   ok   no
suspended profile        | follows.among                                                        | no   ok   no   no   no   no   no   no   ok   ok   no
suspended profile        | follows.following follows.followers                                  | 404  ok   404  404  404  404  404  404  ok   ok   404
suspended profile        | follows.followed_by                                                  | -    ok   no   no   no   no   no   no   no   no   no
suspended profile        | follows.followed                                                     | -    no   no   no   no   no   no   no   no   no   no
suspended profile        | follows.follow                                                       | -    403  404    404 404  404  404  404  404  404  403
suspended profile        | follows.unfollow                                                     | -    403  ok   404  404  404  404  404  404  404  403
suspended profile        | blocks.block                                                         | -    403  404  404  404  404  404  404  404  404  403
suspended profile        | mutes.mute                                                           | -    403  404  404  404  404  404  404  404  404  403
suspended profile        | moderation.report_user                                               | -    403  404  404  404  404  404  404  404  404  403
suspended profile        | accounts.suspend accounts.unsuspend                                  | -    403  403  403  403  403  403  403  ok   ok   403
suspended profile        | accounts.set_roles                                                   | -    403  403  403  403  403  403  403  403  ok   403
suspended profile        | accounts.set_tier accounts.set_verified                              | -    403  403  403  403  403  403  403  403  ok   403

deleted profile          | accounts.user accounts.people accounts.by_nickname                   | no   no   no   no   no   no   no   no   no   no   no
deleted profile          | search.search                                                        | no   no   no   no   no   no   no   no   no   no   no
deleted profile          | accounts.by_username accounts.by_handle accounts.counts              | no   no   no   no   no   no   no   no   no   no   no
deleted profile          | accounts.by_email                                                    | no   no   no   no   no   no   no   no   no   no   no
deleted profile          | follows.is_following follows.activity_of                             | no   no   no   no   no   no   no   no   no    no    no
deleted profile          | follows.among                                                        | no   no   no   no   no   no   no   no   no   no   no
deleted profile          | follows.following follows.followers                                  | 404  404  404  404  404  404  404  404  404    404    404
deleted profile          | follows.followed_by                                                  | -    no   no   no   no   no   no   no   no   no   no
deleted profile          | follows.followed                                                     | -    no   no   no   no   no   no   no   no   no   no
deleted profile          | follows.follow                                                       | -    401  404    404  404  404  404  404  404    404    403
deleted profile          | blocks.block                                                         | -    401  404  404  404  404  404  404  404  404  403
deleted profile          | mutes.mute                                                           | -    401  404  404  404  404  404  404  404  404  403
deleted profile          | moderation.report_user                                               | -    401  404  404  404  404  404  404  404  404  403
deleted profile          | accounts.suspend accounts.unsuspend                                  | -    401  403  403  403  403  403  403  404  404  403
deleted profile          | accounts.set_roles                                                   | -    401  403  403  403  403  403  403  403  404  403
deleted profile          | accounts.set_tier accounts.set_verified                              | -    401  403  403  403  403  403  403  403  404  403

moderator                | accounts.suspend accounts.set_roles                                  | -    403  403  403  403  403  403  403  403  ok   403

goal                     | goals.create                                                         | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
goal                     | goals.get goals.list tasks.get tasks.list                            | -    ok   404  404  404  404  404  404  404  ok   403
goal                     | goals.goals tasks.tasks milestones.milestones                        | -    ok   no   no   no   no   no   no   no   ok   403
goal                     | search.search                                                        | no   ok   no   no   no   no   no   no   no   ok   no
goal                     | milestones.get milestones.list milestones.timeline                   | -    ok   404  404  404  404  404  404  404  ok   403
goal                     | goals.update goals.delete tasks.create tasks.update tasks.delete     | -    ok   404  404  404  404  404  404  404  404  403
goal                     | milestones.create milestones.update milestones.delete                | -    ok   404  404  404  404  404  404  404  404  403
goal                     | tasks.due                                                            | -    ok   no   no   no   no   no   no   no   no   403
goal                     | tasks.due_on                                                         | -    403  403  403  403  403  403  403  403  ok   403
goal                     | timelines.of                                                         | no   ok   no   no   404  no   no   no   no   ok   no

deleted goal             | goals.get tasks.get tasks.list milestones.get milestones.list        | -    404  404  404  404  404  404  404  404  404  403
deleted goal             | goals.goals tasks.tasks milestones.milestones                        | -    no   no   no   no   no   no   no   no   no   403
deleted goal             | search.search                                                        | no   no   no   no   no   no   no   no   no   no   no
deleted goal             | goals.list milestones.timeline                                       | -    no   404  404  404  404  404  404  404  no   403
deleted goal             | goals.update goals.delete tasks.create tasks.update tasks.delete     | -    404  404  404  404  404  404  404  404  404  403
deleted goal             | milestones.create milestones.update milestones.delete                | -    404  404  404  404  404  404  404  404  404  403
deleted goal             | tasks.due                                                            | -    no   no   no   no   no   no   no   no   no   403
deleted goal             | tasks.due_on                                                         | -    403  403  403  403  403  403  403  403  no   403
deleted goal             | timelines.of                                                         | no   no   no   no   404  no   no   no   no   no   no

suspended account's goal | goals.get goals.list tasks.get tasks.list                            | -    403  404  404  404  404  404  404  404  ok   403
suspended account's goal | goals.goals tasks.tasks milestones.milestones                        | -    403  no   no   no   no   no   no   no   ok   403
suspended account's goal | search.search                                                        | no   no   no   no   no   no   no   no   no   ok   no
suspended account's goal | milestones.get milestones.list milestones.timeline                   | -    403  404  404  404  404  404  404  404  ok   403
suspended account's goal | goals.update tasks.update milestones.update                          | -    403  404  404  404  404  404  404  404  404  403
suspended account's goal | tasks.due_on                                                         | -    403  403  403  403  403  403  403  403  ok   403
suspended account's goal | timelines.of                                                         | 404  no   404  404  404  404  404  404  no   ok   404

deleted account's goal   | goals.get goals.list tasks.get tasks.list                            | -    401  404  404  404  404  404  404  404  404  403
deleted account's goal   | goals.goals tasks.tasks milestones.milestones                        | -    401  no   no   no   no   no   no   no   no   403
deleted account's goal   | search.search                                                        | no   no   no   no   no   no   no   no   no   no   no
deleted account's goal   | milestones.get milestones.list milestones.timeline                   | -    401  404  404  404  404  404  404  404  404  403
deleted account's goal   | goals.update tasks.update milestones.update                          | -    401  404  404  404  404  404  404  404  404  403
deleted account's goal   | tasks.due_on                                                         | -    401  403  403  403  403  403  403  403  no   403
deleted account's goal   | timelines.of                                                         | 404  404  404  404  404  404  404  404  404  404  404

own account              | accounts.me                                                          | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   ok
own account              | accounts.check_operator                                              | -    403  403  403  403  403  403  403  403  ok   403
own account              | accounts.login accounts.login_on accounts.link_identity accounts.refresh accounts.authenticate | 401  ok   ok   ok   ok   ok   ok   ok   ok   ok   403
own account              | accounts.caller_of                                                   | 401  ok   ok   ok   ok   ok   ok   ok   ok   ok   ok
own account              | accounts.confirm_password                                            | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
own account              | accounts.logout                                                      | no   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok
own account              | accounts.logout_session accounts.logout_everywhere                   | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   ok
own account              | accounts.update_profile accounts.change_password                     | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
own account              | accounts.change_email accounts.change_email_to_proved accounts.create_key accounts.invite            | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
own account              | groups.create posts.create                                           | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
taken name               | accounts.update_profile accounts.change_email                        | -    409  409  409  409  409  409  409  409  409  403
wrong password           | accounts.login accounts.login_on accounts.link_identity              | 401  401  401  401  401  401  401  401  401  401  401
wrong password           | accounts.change_password accounts.change_email accounts.change_email_to_proved | -    401  401  401  401  401  401  401  401  401  403
old sign-in              | accounts.create_key accounts.delete_account                          | -    401  401  401  401  401  401  401  401  401  403
wrong password           | accounts.confirm_password                                            | -    401  401  401  401  401  401  401  401  401  403
own invitation           | accounts.register                                                    | 403  ok   ok   ok   ok   ok   ok   ok   ok   ok   403
audit                    | moderation.audit moderation.audit_by moderation.audit_of             | -    403  403  403  403  403  403  403  ok   ok   403
reported person          | moderation.decide_case                                               | -    403  403  403  403  403  403  403  ok   ok   403
audit                    | statistics.totals                                                       | -    403  403  403  403  403  403  403  403  ok   403
";

/// One operation on one object, with the answer for each viewer.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) object: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) cells: Vec<Cell>,
}

/// The required answer, and the actual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) right: &'static str,
    pub(crate) found: &'static str,
}

pub(crate) fn rows() -> Vec<Row> {
    let tables = [
        TABLE,
        super::feeds::TABLE,
        super::live::TABLE,
        super::media::TABLE,
        super::notifications::TABLE,
        super::quests::TABLE,
        super::rooms::TABLE,
        super::trade::TABLE,
        super::webhooks::TABLE,
    ];
    let lines = |table: &'static str| table.lines().filter(|line| !line.trim().is_empty()).skip(1);
    tables.into_iter().flat_map(lines).flat_map(row).collect()
}

fn row(line: &'static str) -> Vec<Row> {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [object, operations, cells] = parts[..] else { panic!("{line}: not three columns") };
    let cells: Vec<Cell> = cells.split_whitespace().map(cell).collect();
    assert_eq!(cells.len(), Viewer::ALL.len(), "{line}");
    let row = |operation| Row { object, operation, cells: cells.clone() };
    operations.split_whitespace().map(row).collect()
}

fn cell(text: &'static str) -> Cell {
    let (right, found) = text.split_once('/').unwrap_or((text, text));
    for answer in [right, found] {
        let known = ["ok", "no", "400", "401", "403", "404", "409", "-"].contains(&answer);
        assert!(known, "{text} is no answer");
    }
    Cell { right, found }
}
