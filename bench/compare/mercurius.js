// Mercurius on Postgres, in two ways: with loaders, which is how its documentation batches reads, and with one statement
// that is written by hand for this page.

import Fastify from "fastify";
import mercurius from "mercurius";
import { pictures, viewers } from "./access.js";
import { connect, homeFeed, prepared } from "./database.js";

const SCHEMA = `
  scalar AWSDateTime
  scalar AWSURL
  enum ActivityVerb { post share }
  type Query { getFeed(first: Int): ActivityConnection! }
  type ActivityConnection { pageInfo: PageInfo! edges: [ActivityEdge!]! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type ActivityEdge { cursor: String! node: Activity! }
  type Activity { activityId: ID! verb: ActivityVerb! createdAt: AWSDateTime! post: Post }
  type Post {
    id: ID! content: String! createdAt: AWSDateTime! likeCount: Int! commentCount: Int! shareCount: Int!
    author: User
  }
  type User { id: ID! nickname: String! profileImageUrl: AWSURL }
`;

const iso = (ms) => new Date(Number(ms)).toISOString();
const cursor = (row) => Buffer.from(`${row.ts},${row.id}`).toString("base64url");

/** Returns the resolver of `getFeed`, which turns each row into an activity. */
function feed(read, activity) {
  return async (_, { first = 20 }, { viewer }) => {
    const { entries, more } = await read(viewer, first);
    const edges = entries.map((row) => ({ cursor: cursor(row), node: activity(row) }));
    return { pageInfo: { hasNextPage: more, endCursor: edges.at(-1)?.cursor ?? null }, edges };
  };
}

function withLoaders({ statements }, pool, sign) {
  const read = homeFeed(pool, "home", statements.home);
  const readPosts = prepared(pool, "posts", statements.posts);
  const readUsers = prepared(pool, "users", statements.users);
  // The ids of a batch are distinct.
  const byId = async (readAll, ids) => new Map((await readAll(ids)).map((row) => [row.id, row]));
  return {
    resolvers: {
      Query: {
        getFeed: feed(read, (row) => ({
          activityId: row.uid,
          verb: row.kind,
          createdAt: iso(row.ts),
          postId: row.post_id,
        })),
      },
      User: { profileImageUrl: (user) => sign(user.image_key) },
    },
    loaders: {
      Activity: {
        post: {
          async loader(queries) {
            const posts = await byId(readPosts, [...new Set(queries.map(({ obj }) => obj.postId))]);
            return queries.map(({ obj }) => {
              const row = posts.get(obj.postId);
              return {
                id: row.uid,
                content: row.content,
                createdAt: iso(row.created_at),
                likeCount: row.like_count,
                commentCount: row.comment_count,
                shareCount: row.share_count,
                authorId: row.author_id,
              };
            });
          },
          opts: { cache: false },
        },
      },
      Post: {
        author: {
          async loader(queries) {
            const users = await byId(readUsers, [...new Set(queries.map(({ obj }) => obj.authorId))]);
            return queries.map(({ obj }) => {
              const row = users.get(obj.authorId);
              return { id: row.uid, nickname: row.nickname, image_key: row.image_key };
            });
          },
          opts: { cache: false },
        },
      },
    },
  };
}

function byHand({ statements }, pool, sign) {
  const read = homeFeed(pool, "page", statements.page);
  const activity = (row) => ({
    activityId: row.uid,
    verb: row.kind,
    createdAt: iso(row.ts),
    post: {
      id: row.post_uid,
      content: row.preview,
      createdAt: iso(row.created_at),
      likeCount: row.like_count,
      commentCount: row.comment_count,
      shareCount: row.share_count,
      author: { id: row.author_uid, nickname: row.nickname, profileImageUrl: sign(row.image_key) },
    },
  });
  return { resolvers: { Query: { getFeed: feed(read, activity) } } };
}

export async function serve(configuration) {
  const pool = connect(configuration);
  const viewerOf = viewers(configuration, pool);
  const way = configuration.loaders ? withLoaders : byHand;
  const app = Fastify();
  app.register(mercurius, {
    schema: SCHEMA,
    ...way(configuration, pool, pictures(configuration)),
    context: async (request) => ({ viewer: await viewerOf(request.headers.authorization) }),
    // A document is compiled the second time that it is used.
    jit: 1,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
}
