// urql with its normalized cache, which knows the schema: pages that it merges, a mutation that changes
// a cached page, and a subscription.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { getIntrospectionQuery } from 'graphql';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { Town, ask } from '../town.js';

const PAGE = gql`
  query Page($userId: ID!, $after: String) {
    listUserPosts(userId: $userId, first: 4, after: $after) {
      edges { cursor node { id content viewerHasLiked } }
      pageInfo { hasNextPage endCursor }
    }
  }
`;
const LIKE = gql`mutation Like($postId: ID!) { likePost(postId: $postId) { liked post { id viewerHasLiked } } }`;
const ENTRIES = gql`subscription Entries($after: ID) { onFeedEntry(after: $after) { activityId previewText } }`;

describe('urql', { timeout: 60_000 }, () => {
  let town, ana, texts, client, sockets;
  const problems = [];

  before(async () => {
    town = await Town.open();
    ana = await town.person('ana');
    texts = await ana.posts(11);
    sockets = createClient({ url: town.socket, webSocketImpl: WebSocket, connectionParams: ana.headers });
    const forwardSubscription = ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: sockets.subscribe({ query, variables }, sink) }),
    });
    const schema = await ask(ana.client, getIntrospectionQuery());
    const cache = cacheExchange({
      schema,
      // Objects that belong to one place on a page.
      keys: { PostConnection: () => null, PostEdge: () => null, PageInfo: () => null, LikeResult: () => null },
      resolvers: { Query: { listUserPosts: relayPagination() } },
      logger: (severity, message) => severity === 'debug' || problems.push(message),
    });
    client = new Client({
      url: town.graphql,
      exchanges: [cache, subscriptionExchange({ forwardSubscription }), fetchExchange],
      fetchOptions: { headers: ana.headers },
    });
  });
  after(async () => {
    await sockets?.dispose();
    await town?.close();
  });

  async function read(after) {
    const { data, error } = await client.query(PAGE, { userId: ana.id, after }).toPromise();
    if (error) throw error;
    const { edges, pageInfo } = data.listUserPosts;
    return { nodes: edges.map((edge) => edge.node), pageInfo };
  }

  it('merges pages into one list', async () => {
    let page = await read();
    assert.deepEqual(page.nodes.map((node) => node.content), texts.slice(0, 4));
    for (const end of [8, 11]) {
      assert.equal(page.pageInfo.hasNextPage, true);
      page = await read(page.pageInfo.endCursor);
      assert.deepEqual(page.nodes.map((node) => node.content), texts.slice(0, end));
    }
    assert.equal(page.pageInfo.hasNextPage, false);
  });

  it('shows the result of a mutation on the page it has', async () => {
    const [newest] = (await read()).nodes;
    assert.equal(newest.viewerHasLiked, false);
    const { data, error } = await client.mutation(LIKE, { postId: newest.id }).toPromise();
    assert.equal(error, undefined);
    assert.equal(data.likePost.liked, true);
    const { nodes } = await read();
    assert.deepEqual(nodes.slice(0, 2).map((node) => node.viewerHasLiked), [true, false]);
  });

  it('finds no fault with the documents', () => {
    assert.deepEqual(problems, []);
  });

  it('receives what happens over graphql-ws', async () => {
    const variables = { after: await ana.newestEntry() };
    const told = new Promise((next) => client.subscription(ENTRIES, variables).subscribe(next));
    await ana.post('hello urql');
    const { data, error } = await told;
    assert.equal(error, undefined);
    assert.equal(data.onFeedEntry.previewText, 'hello urql');
  });
});
