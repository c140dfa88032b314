// Apollo Client: pages that its cache merges, a mutation that changes a cached page, and a subscription.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { Town } from '../town.js';

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

describe('Apollo Client', { timeout: 60_000 }, () => {
  let town, ana, texts, client, sockets, pages;
  const cached = () => client.readQuery({ query: PAGE, variables: { userId: ana.id } }).listUserPosts;
  const nodes = () => cached().edges.map((edge) => edge.node);

  before(async () => {
    town = await Town.open();
    ana = await town.person('ana');
    texts = await ana.posts(11);
    sockets = createClient({ url: town.socket, webSocketImpl: WebSocket, connectionParams: ana.headers });
    const isSubscription = ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION;
    client = new ApolloClient({
      link: ApolloLink.split(
        isSubscription,
        new GraphQLWsLink(sockets),
        new HttpLink({ uri: town.graphql, headers: ana.headers }),
      ),
      cache: new InMemoryCache({
        typePolicies: { Query: { fields: { listUserPosts: relayStylePagination(['userId']) } } },
      }),
    });
    pages = client.watchQuery({ query: PAGE, variables: { userId: ana.id } });
    await new Promise((resolve, reject) => {
      pages.subscribe(({ data, error }) => (error ? reject(error) : data && resolve()));
    });
  });
  after(async () => {
    client?.stop();
    await sockets?.dispose();
    await town?.close();
  });

  it('merges the pages of fetchMore into one list', async () => {
    assert.deepEqual(nodes().map((node) => node.content), texts.slice(0, 4));
    for (const end of [8, 11]) {
      const { pageInfo } = cached();
      assert.equal(pageInfo.hasNextPage, true);
      await pages.fetchMore({ variables: { after: pageInfo.endCursor } });
      assert.deepEqual(nodes().map((node) => node.content), texts.slice(0, end));
    }
    assert.equal(cached().pageInfo.hasNextPage, false);
  });

  it('shows the result of a mutation on the page it has', async () => {
    const [newest] = nodes();
    assert.equal(newest.viewerHasLiked, false);
    const { data } = await client.mutate({ mutation: LIKE, variables: { postId: newest.id } });
    assert.equal(data.likePost.liked, true);
    assert.deepEqual(nodes().slice(0, 2).map((node) => node.viewerHasLiked), [true, false]);
  });

  it('receives what happens over graphql-ws', async () => {
    const variables = { after: await ana.newestEntry() };
    const told = new Promise((next, error) => {
      client.subscribe({ query: ENTRIES, variables }).subscribe({ next, error });
    });
    await ana.post('hello Apollo');
    const { data, error } = await told;
    assert.equal(error, undefined);
    assert.equal(data.onFeedEntry.previewText, 'hello Apollo');
  });
});
