// A server that answers only the documents that graphql-codegen or relay-compiler has listed.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { codegen } from '@graphql-codegen/core';
import { preset } from '@graphql-codegen/client-preset';
import { buildASTSchema, parse } from 'graphql';
import relayCompiler from 'relay-compiler';
import { Town, inDirectory, schemaText } from '../town.js';

const at = (path) => new URL(`../${path}`, import.meta.url);

/** The list of the client preset, and the module with the documents. */
async function ofCodegen() {
  const schema = parse(await schemaText());
  const rawSDL = await readFile(at('codegen/pages.graphql'), 'utf8');
  const files = await preset.buildGeneratesSection({
    schema,
    schemaAst: buildASTSchema(schema),
    documents: [{ location: 'pages.graphql', document: parse(rawSDL), rawSDL }],
    config: {},
    pluginContext: {},
    baseOutputDir: 'gql/',
    presetConfig: { persistedDocuments: true },
    plugins: [],
    pluginMap: {},
  });
  const generate = async (name) => codegen(files.find(({ filename }) => filename.endsWith(name)));
  // In this order: the list waits for the documents.
  const documents = await generate('graphql.ts');
  return { list: await generate('persisted-documents.json'), documents };
}

/** The list of relay-compiler, and what its runtime knows of a query. */
async function ofRelay() {
  return inDirectory(async (directory) => {
    await copyFile(at('relay/posts.js'), join(directory, 'posts.js'));
    await writeFile(join(directory, 'schema.graphql'), await schemaText());
    await mkdir(join(directory, 'artifacts'));
    const config = JSON.parse(await readFile(at('relay/relay.config.json'), 'utf8'));
    config.persistConfig = { file: './list.json', algorithm: 'MD5' };
    await writeFile(join(directory, 'list.json'), '{}');
    await writeFile(join(directory, 'relay.config.json'), JSON.stringify(config));
    await promisify(execFile)(relayCompiler, ['relay.config.json'], { cwd: directory });
    const load = createRequire(join(directory, 'artifacts', 'artifacts.js'));
    const { params } = load('./postsQuery.graphql');
    return { list: await readFile(join(directory, 'list.json'), 'utf8'), params };
  });
}

// Documents that the tests need beside those of the tool.
const OWN = {
  register: 'mutation ($input: RegisterInput!) { register(input: $input) { accessToken user { id } } }',
  post: 'mutation ($content: String!) { createPost(input: { content: $content, contentType: text }) { id } }',
};

describe('a server with a list of documents', { timeout: 60_000 }, () => {
  let town;
  afterEach(() => town?.close());

  async function send(body, token) {
    const authorization = token ? { authorization: `Bearer ${token}` } : {};
    const headers = { 'content-type': 'application/json', ...authorization };
    return (await fetch(town.graphql, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  }

  /** Starts a server with the list, and returns a user with two posts. */
  async function startWith(list) {
    await inDirectory(async (directory) => {
      const path = join(directory, 'list.json');
      await writeFile(path, JSON.stringify({ ...JSON.parse(list), ...OWN }));
      town = await Town.open({ ROUNDTABLE_GRAPHQL__DOCUMENTS: path });
    });
    const input = { email: 'ana@example.com', password: 'ana likes tests', nickname: 'ana' };
    const { accessToken, user } = (await send({ documentId: 'register', variables: { input } })).data.register;
    for (const content of ['first', 'second']) await send({ documentId: 'post', variables: { content } }, accessToken);
    return user.id;
  }

  async function refusesOthers() {
    for (const body of [{ query: '{ me { id } }' }, { documentId: 'another' }, { query: '{ __typename }' }]) {
      const { data, errors } = await send(body);
      assert.equal(data, undefined);
      assert.equal(errors[0].extensions.code, 'DOCUMENT_NOT_ALLOWED');
    }
  }

  const contents = ({ edges }) => edges.map(({ node }) => node.content);

  it('answers those of graphql-codegen by their ids', async () => {
    const { list, documents } = await ofCodegen();
    const userId = await startWith(list);
    const [[id, query]] = Object.entries(JSON.parse(list)).filter(([, text]) => text.startsWith('query Page'));
    assert.ok(documents.includes(id), 'the typed document has the id, too');
    const persistedQuery = { version: 1, sha256Hash: id };
    for (const body of [{ documentId: id }, { extensions: { persistedQuery } }, { query }]) {
      const { data } = await send({ ...body, variables: { userId } });
      assert.deepEqual(contents(data.listUserPosts), ['second', 'first']);
    }
    await refusesOthers();
  });

  it('answers those of relay-compiler by their ids', async () => {
    const { list, params } = await ofRelay();
    assert.equal(params.text, null);
    const userId = await startWith(list);
    for (const name of ['doc_id', 'id']) {
      const { data } = await send({ [name]: params.id, variables: { userId } });
      assert.deepEqual(contents(data.getUser.posts), ['second', 'first']);
    }
    await refusesOthers();
  });
});
