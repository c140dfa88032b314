// The connections to Postgres, with statements that each connection prepares once.

import pg from "pg";

/** Returns the connections of one process. */
export function connect({ socket, connections }) {
  return new pg.Pool({ host: socket, user: "bench", database: "postgres", max: connections });
}

/** Returns a function that runs a prepared statement and returns its rows. */
export function prepared(pool, name, text) {
  return async (...values) => (await pool.query({ name, text, values })).rows;
}

/**
 * Returns a function that reads the newest entries of a viewer's home feed, and whether others follow. The statement looks at
 * a few more activities than a page has and tells which of them the viewer may see; in the rare case that too few are left,
 * it continues below.
 */
export function homeFeed(pool, name, { first, after, looked }) {
  const [readFirst, readAfter] = [prepared(pool, `${name}-first`, first), prepared(pool, `${name}-after`, after)];
  return async (viewer, wanted) => {
    let rows = await readFirst(viewer);
    const entries = rows.filter((row) => row.visible);
    while (entries.length < wanted && rows.length >= looked) {
      const last = rows.at(-1);
      rows = await readAfter(viewer, last.ts, last.id);
      entries.push(...rows.filter((row) => row.visible));
    }
    return { entries: entries.slice(0, wanted), more: entries.length > wanted || rows.length >= looked };
  };
}
