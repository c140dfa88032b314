// Relay: its compiler accepts the schema and the documents of relay/posts.js, and its runtime reads pages
// with what the compiler generates.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import relay from 'relay-runtime';
import relayCompiler from 'relay-compiler';
import { Town, inDirectory, schemaText } from '../town.js';

const { Environment, Network, RecordSource, Store, commitMutation, createOperationDescriptor, fetchQuery } = relay;
const { getPaginationMetadata, getPaginationVariables, getRefetchMetadata, getSelector } = relay;

/** Compiles the documents, and returns the artifacts by name. */
async function compile() {
  return inDirectory(async (directory) => {
    for (const name of ['posts.js', 'relay.config.json']) {
      await copyFile(new URL(`../relay/${name}`, import.meta.url), join(directory, name));
    }
    await writeFile(join(directory, 'schema.graphql'), await schemaText());
    await mkdir(join(directory, 'artifacts'));
    const compiling = promisify(execFile)(relayCompiler, ['relay.config.json'], { cwd: directory });
    await compiling.catch(({ stdout, stderr }) =>
      assert.fail(`relay-compiler refuses the schema or a document:\n${stdout}${stderr}`),
    );
    const load = createRequire(join(directory, 'artifacts', 'artifacts.js'));
    const names = ['postsQuery', 'postsPageQuery', 'posts_user', 'postsLikeMutation'];
    return Object.fromEntries(names.map((name) => [name, load(`./${name}.graphql`)]));
  });
}

function environment(town, person) {
  const send = async ({ text }, variables) => {
    const headers = { 'content-type': 'application/json', ...person.headers };
    const body = JSON.stringify({ query: text, variables });
    return (await fetch(town.graphql, { method: 'POST', headers, body })).json();
  };
  return new Environment({
    network: Network.create(send),
    store: new Store(new RecordSource()),
    getDataID: ({ nodeId }) => nodeId,
  });
}

describe('Relay', { timeout: 60_000 }, () => {
  let town, ana, texts, artifacts, env, operation;

  before(async () => {
    artifacts = await compile();
    town = await Town.open();
    ana = await town.person('ana');
    texts = await ana.posts(11);
    env = environment(town, ana);
    operation = createOperationDescriptor(artifacts.postsQuery, { userId: ana.id });
    env.retain(operation);
  });
  after(() => town?.close());

  /** The fragment's data, and its owner for the next page. */
  function fragment() {
    const owner = env.lookup(operation.fragment).data.getUser;
    const selector = getSelector(artifacts.posts_user, owner);
    return { owner, selector, data: env.lookup(selector).data };
  }
  const nodes = () => fragment().data.posts.edges.map((edge) => edge.node);
  const contents = () => nodes().map((node) => node.content);

  /** Loads the next page, as `loadNext` of usePaginationFragment does. */
  async function loadNext(count) {
    const { selector, data } = fragment();
    const { paginationMetadata, paginationRequest } = getPaginationMetadata(artifacts.posts_user, 'posts');
    const { identifierInfo } = getRefetchMetadata(artifacts.posts_user, 'posts');
    const variables = getPaginationVariables(
      'forward',
      count,
      data.posts.pageInfo.endCursor,
      { ...selector.owner.variables, ...selector.variables },
      {},
      paginationMetadata,
    );
    variables[identifierInfo.identifierQueryVariableName] = data[identifierInfo.identifierField];
    await fetchQuery(env, paginationRequest, variables).toPromise();
  }

  it('merges the pages of a connection into one list', async () => {
    await fetchQuery(env, artifacts.postsQuery, { userId: ana.id }).toPromise();
    assert.deepEqual(contents(), texts.slice(0, 4));
    for (const end of [8, 11]) {
      assert.equal(fragment().data.posts.pageInfo.hasNextPage, true);
      await loadNext(4);
      assert.deepEqual(contents(), texts.slice(0, end));
    }
    assert.equal(fragment().data.posts.pageInfo.hasNextPage, false);
  });

  it('shows the result of a mutation on the page it has', async () => {
    const [newest] = nodes();
    assert.equal(newest.viewerHasLiked, false);
    await new Promise((onCompleted, onError) => {
      const mutation = artifacts.postsLikeMutation;
      commitMutation(env, { mutation, variables: { postId: newest.id }, onCompleted, onError });
    });
    assert.deepEqual(nodes().slice(0, 2).map((node) => node.viewerHasLiked), [true, false]);
  });
});
