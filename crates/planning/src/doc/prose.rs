//! The hand-written parts of the document.

pub(super) const HEAD: &str = "\
# The table

> Generated from `crates/model/src/schema.rs` by `roundtable table doc --write docs/TABLE.md`. Do not
> edit it: CI refuses a copy that differs (`roundtable table doc --check docs/TABLE.md`).

Every entity with its keys, and every access pattern, as the code defines them.
";

pub(super) const CONVENTIONS: &str = "\
## Conventions

- **Keys** are text, in parts between `#`. `{field}` is a field of the entity, `{field:method}` the result
  of a method of the field (`{created_at:day}` is its day); everything else is constant.
- **Shards**: `[#{shard}]` is empty for shard 0 and `#n` for the others, so that a single shard looks like
  an unsharded key, and shards can be added without rewriting anything.
- **Parts** never hold `#` or a control character. Ids are letters, digits, `_` and `-`, up to 64; names
  (nicknames, e-mails, handles, tags) are folded, with `#` and `%` escaped; numbers in sort keys are
  padded to 12 digits.
- **Times** are UTC with milliseconds, always 24 characters (`2025-01-27T15:30:00.000Z`): text order is
  time order. If several items of a partition could have the same time, an id follows it in the sort
  key, so that two items of one millisecond do not overwrite each other.
- **Indexes** are sparse and project all attributes. An item is in one only if the condition beside the
  key holds; `else` means that the previous key does not apply. Conditions and filters name fields, as
  keys do.
- **Owners**: an entity that is \"removed with\" a field goes with the user, group, post or other object
  that the field names. The purge finds its items by a key of which that field is the partition.
- **Attributes** are in camelCase; `type` is on every item and names the entity. `?` marks attributes that
  may be absent. `ttl` is the second from which no read returns the item.
- **Mutable fields in index keys** are changed by a rekey only: it checks the version and rewrites all
  index keys.
- **Reads** are eventual unless marked strong. A get, a batch get and a query of one partition of the
  table can be made strong; merged queries (across shards, partitions or days) and reads of an index
  cannot. ↑ is ascending, ↓ descending; a caller can choose either, and another page size.
- **Creating the tables**: `roundtable table create` creates keys, indexes, ttl and stream, billed on
  demand. It does not enable point-in-time recovery and deletion protection; the output of
  `roundtable table terraform` and `roundtable table cloudformation` does. Data is encrypted either way,
  with DynamoDB's own key, which costs nothing.
";

pub(super) const ADDING: &str = "
## Adding an entity

1. **Find the most frequent access pattern.** Its argument is the partition key (`main`), and the sort
   key keeps the items it returns in one range. Items that change in one transaction or are read in one
   page share a partition; an id that is not an argument does not belong into the key.
2. **Is it looked up by another id?** By its own id, if the main key does not begin with it, or by the
   object it refers to: add an index key with that id as its partition (`COMMENT#{id}` on GSI2,
   `TASK#{id}` on GSI3, the followee's `USER#{followee_id}` on GSI1). An index lags behind: before a
   decision, read the item again from the table, strongly.
3. **Is it listed by its owner?** Use GSI1, `USER#{owner}` with `ENTITY#Name#{time}#{id}`: newest first,
   beside the owner's other entities.
4. **Does it have another name, or a list across users?** Use GSI2 or GSI3: a name as the partition
   (`NICK#{nickname}`), or a day with a shard (`TIMELINE#{day}[#{shard}]`), never one partition for all
   users. An index cannot keep a name unique; a lock item does (`NickLock`).
5. **Add it to the code.** The struct goes into `entities/`; its keys, its owners (`of (…)`) and its
   access patterns into `schema.rs`; a sample into `samples/`. Run `roundtable table lint` and accept
   intended findings in the schema, with a reason. Run `roundtable table doc --write docs/TABLE.md`,
   and `roundtable table capacity` for the cost.
";
