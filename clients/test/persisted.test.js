// Automatic persisted queries, as Apollo Client's link sends them: a hash first, the text once, and then
// the hash alone.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Town } from '../town.js';

const PAGE = gql`
  query Page($userId: ID!, $after: String) {
    listUserPosts(userId: $userId, first: 4, after: $after) {
      edges { node { content } }
      pageInfo { endCursor }
    }
  }
`;

describe('persisted queries of Apollo Client', { timeout: 60_000 }, () => {
  let town, ana, texts;

  before(async () => {
    town = await Town.open();
    ana = await town.person('ana');
    texts = await ana.posts(8);
  });
  after(() => town?.close());

  /** A client of its own, and a record of what it sent: `hash`, `hash and text`, or `text`. */
  function recordingClient(options) {
    const sent = [];
    const record = (address, request) => {
      const parameters = new URL(address).searchParams;
      const { query, extensions } = request.body ? JSON.parse(request.body) : Object.fromEntries(parameters);
      const parts = [JSON.stringify(extensions)?.includes('sha256Hash') && 'hash', query && 'text'];
      sent.push(`${request.method}: ${parts.filter(Boolean).join(' and ')}`);
      return fetch(address, request);
    };
    const sha256 = (text) => createHash('sha256').update(text).digest('hex');
    const link = new PersistedQueryLink({ sha256, ...options }).concat(
      new HttpLink({ uri: town.graphql, headers: ana.headers, fetch: record }),
    );
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const read = async (after) => {
      const { data } = await client.query({ query: PAGE, variables: { userId: ana.id, after }, fetchPolicy: 'no-cache' });
      const { edges, pageInfo } = data.listUserPosts;
      return { contents: edges.map(({ node }) => node.content), endCursor: pageInfo.endCursor };
    };
    return { sent, read };
  }

  it('send the text once, and then the hash alone', async () => {
    const { sent, read } = recordingClient({});
    const first = await read();
    const second = await read(first.endCursor);
    assert.deepEqual([...first.contents, ...second.contents], texts);
    assert.deepEqual(sent, ['POST: hash', 'POST: hash and text', 'POST: hash']);
  });

  it('need no text that another client has sent', async () => {
    const { sent, read } = recordingClient({});
    assert.deepEqual((await read()).contents, texts.slice(0, 4));
    assert.deepEqual(sent, ['POST: hash']);
  });

  it('may come in a URL, which caches understand', async () => {
    const { sent, read } = recordingClient({ useGETForHashedQueries: true });
    assert.deepEqual((await read()).contents, texts.slice(0, 4));
    assert.deepEqual(sent, ['GET: hash']);
  });

  it('are refused if the hash is that of another text', async () => {
    const { read } = recordingClient({ sha256: () => '0'.repeat(64) });
    await assert.rejects(read(), /hash/i);
  });
});
