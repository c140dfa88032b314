// Both styles of paging, with the plain client of urql.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Town, ask } from '../town.js';

const BY_TOKEN = `query ($userId: ID!, $nextToken: String) {
  listUserPosts(userId: $userId, limit: 4, nextToken: $nextToken) { items { content } nextToken }
}`;
const BY_CURSOR = `query ($userId: ID!, $after: String) {
  listUserPosts(userId: $userId, first: 4, after: $after) {
    edges { cursor node { content } }
    pageInfo { hasNextPage endCursor }
  }
}`;

const newestFirst = Array.from({ length: 11 }, (_, at) => `post ${11 - at}`);

describe('eleven posts in pages of four', () => {
  let town, ana;

  before(async () => {
    town = await Town.open();
    ana = await town.person('ana');
    for (const content of newestFirst.toReversed()) await ana.post(content);
  });
  after(() => town?.close());

  const byToken = async (nextToken) => (await ask(ana.client, BY_TOKEN, { userId: ana.id, nextToken })).listUserPosts;
  const byCursor = async (after) => (await ask(ana.client, BY_CURSOR, { userId: ana.id, after })).listUserPosts;

  it('come by nextToken', async () => {
    const pages = [];
    let nextToken;
    do {
      const page = await byToken(nextToken);
      pages.push(page.items.map((post) => post.content));
      nextToken = page.nextToken;
    } while (nextToken);
    assert.deepEqual(pages, [newestFirst.slice(0, 4), newestFirst.slice(4, 8), newestFirst.slice(8)]);
  });

  it('come by after', async () => {
    const pages = [];
    let info = { hasNextPage: true };
    while (info.hasNextPage) {
      const page = await byCursor(info.endCursor);
      pages.push(page.edges.map((edge) => edge.node.content));
      assert.equal(page.edges.at(-1).cursor, page.pageInfo.endCursor);
      info = page.pageInfo;
    }
    assert.deepEqual(pages, [newestFirst.slice(0, 4), newestFirst.slice(4, 8), newestFirst.slice(8)]);
  });

  it('go on after any of them', async () => {
    const { edges } = await byCursor();
    const page = await byCursor(edges[1].cursor);
    assert.deepEqual(page.edges.map((edge) => edge.node.content), newestFirst.slice(2, 6));
  });

  it('have one cursor for both styles', async () => {
    const { nextToken } = await byToken();
    const byAfter = await byCursor(nextToken);
    const byNext = await byToken((await byCursor()).pageInfo.endCursor);
    assert.deepEqual(byAfter.edges.map((edge) => edge.node.content), newestFirst.slice(4, 8));
    assert.deepEqual(byNext.items.map((post) => post.content), newestFirst.slice(4, 8));
  });

  it('refuse a cursor of another user', async () => {
    const bo = await town.person('bo');
    const { nextToken } = await byToken();
    const asked = ask(bo.client, BY_TOKEN, { userId: ana.id, nextToken });
    await assert.rejects(asked, (error) => error.graphQLErrors[0].extensions.code === 'BAD_REQUEST');
  });
});
