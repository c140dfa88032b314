//! What the document says that the shapes do not.

pub(super) const HEAD: &str = "\
# The table

> Generated from `crates/model/src/schema.rs` by `roundtable table doc --write docs/TABLE.md`. Do not
> edit it: CI refuses a copy that differs (`roundtable table doc --check docs/TABLE.md`).

Every kind of item with its keys, and every question that can be asked, as the code knows them.
";

pub(super) const CONVENTIONS: &str = "\
## Conventions

- **Keys** are text, in parts between `#`. `{field}` is a field of the entity, `{field:method}` what a
  method makes of it (`{created_at:day}` is its day); everything else is constant.
- **Shards**: `[#{shard}]` is nothing for shard 0 and `#n` for the others, so that one shard looks as if
  there were none, and more can be added without rewriting anything.
- **Parts** never hold `#` or a control character. Ids are letters, digits, `_` and `-`, up to 64; names
  (nicknames, e-mails, handles, tags) are folded, with `#` and `%` escaped; numbers in sort keys are
  padded to 12 digits.
- **Times** are UTC with milliseconds, always 24 characters (`2025-01-27T15:30:00.000Z`): text order is
  time order. Where several items of a partition could have the same time, an id follows it in the sort
  key, or two of one millisecond would be one.
- **Indexes** are sparse and carry everything. An item is in one only when the condition beside the key
  holds; `else` stands for an item to which the key before it does not apply. Conditions and filters
  name fields, as keys do.
- **Attributes** are in camelCase; `type` is on every item and names the entity. `?` marks what may be
  absent. `ttl` is the second from which on an item is gone, for every read.
- **Fields in index keys** that may change are changed by a rekey only: it checks the version and writes
  all index keys anew.
- **Reads** are eventual unless marked strong. A get, a batch of gets and a query of one partition of the
  table can be asked for strong; queries that are merged, across shards, other partitions or days, and
  reads of an index cannot. ↑ is rising, ↓ falling; either can be asked for. A page can be asked for in
  another size than the one named.
- **Making the tables**: `roundtable table create` makes keys, indexes, ttl and stream, billed on demand.
  It does not switch on point-in-time recovery and deletion protection, as the output of
  `roundtable table terraform` and `roundtable table cloudformation` does. Data is encrypted either way,
  with DynamoDB's own key, which costs nothing.
";

pub(super) const ADDING: &str = "
## Adding an entity

1. **What is asked of it most?** That question's argument is the partition key (`main`), and the sort
   key puts what is asked for together in one range. Items that change in one transaction or are read
   in one page share a partition; an id that is not in the question does not belong into the key.
2. **Is it looked up from its other end?** By its own id, when the main key does not begin with it, or
   by whom it points at: a key on an index, with that id as its partition (`COMMENT#{id}` on GSI2,
   `TASK#{id}` on GSI3, the followee's `USER#{followee_id}` on GSI1). Check decisions on the table
   again, strongly: an index is behind.
3. **Is it somebody's, and listed as such?** GSI1, `USER#{owner}` with `ENTITY#Name#{time}#{id}`:
   newest first, beside everything else of theirs.
4. **Does it have another name, or a list across people?** GSI2 or GSI3, whichever the entity has free:
   a name as the partition (`NICK#{nickname}`), or a day with a shard (`TIMELINE#{day}[#{shard}]`), never
   one key for everybody. An index cannot keep a name unique; a lock item does (`NickLock`).
5. **Write it down.** The struct in `entities/`, its keys and its questions in `schema.rs`, a sample in
   `samples/`. Then `roundtable table lint`, and accept what is as it should be on the page, with the
   reason; `roundtable table doc --write docs/TABLE.md`; `roundtable table capacity`, to see the price.
";
