//! The table contract over the AWS SDK.
