// PostGraphile on Postgres: types, fields and relations come from the tables. Two things are added: the home feed, by a
// function of the database for the viewer of the request, and the signed URLs of pictures.

import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import { connection, context, lambda } from "postgraphile/grafast";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { extendSchema, gql } from "postgraphile/utils";
import { pictures, viewers } from "./access.js";
import { connect } from "./database.js";

function appSchema(sign) {
  return extendSchema((build) => {
    const { home_feed: homeFeed } = build.input.pgRegistry.pgResources;
    return {
      typeDefs: gql`
        extend type Query {
          getFeed: ActivityConnection
        }
        extend type User {
          profileImageUrl: String
        }
      `,
      objects: {
        Query: {
          plans: {
            // PostGraphile adds the arguments for pages.
            getFeed() {
              const $viewer = context().get("viewer");
              return connection(homeFeed.execute([{ step: $viewer, pgCodec: TYPES.bigint }]));
            },
          },
        },
        User: {
          plans: {
            profileImageUrl: ($user) => lambda($user.get("image_key"), sign, true),
          },
        },
      },
    };
  });
}

export async function serve(configuration) {
  const pool = connect(configuration);
  const viewerOf = viewers(configuration, pool);
  const preset = {
    extends: [PostGraphileAmberPreset],
    plugins: [appSchema(pictures(configuration))],
    pgServices: [makePgService({ pool, schemas: ["public"] })],
    grafserv: { graphqlPath: "/graphql", graphiql: false, watch: false },
    grafast: {
      explain: false,
      context: async ({ node }) => ({ viewer: await viewerOf(node.req.headers.authorization) }),
    },
  };
  const service = postgraphile(preset).createServ(grafserv);
  const server = createServer();
  await service.addTo(server);
  await service.ready();
  server.listen(0, "127.0.0.1");
}
