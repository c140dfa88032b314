// graphql-codegen: its client preset and its plugin typescript-operations accept the schema. TypeScript
// accepts what they generate, and the program codegen/pages.ts reads pages with it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { codegen } from '@graphql-codegen/core';
import { preset } from '@graphql-codegen/client-preset';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { buildASTSchema, parse } from 'graphql';
import { Town, inDirectory, schemaText } from '../town.js';

const here = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const TSC = here('node_modules/typescript/bin/tsc');

// As docs/API.md recommends; `strictScalars` refuses a schema with another scalar.
const CONFIG = {
  strictScalars: true,
  scalars: {
    AWSDate: 'string',
    AWSDateTime: 'string',
    AWSEmail: 'string',
    AWSJSON: 'string',
    AWSTimestamp: 'number',
    AWSURL: 'string',
    ID: 'string',
  },
  enumType: 'native',
  importExtension: '.js',
};

/** The files of the client preset, and those of typescript-operations alone, by name. */
async function generate() {
  const schema = parse(await schemaText());
  const rawSDL = await readFile(here('codegen/pages.graphql'), 'utf8');
  const documents = [{ location: 'pages.graphql', document: parse(rawSDL), rawSDL }];
  const shared = { schema, schemaAst: buildASTSchema(schema), documents, config: CONFIG, pluginContext: {} };
  const ofPreset = await preset.buildGeneratesSection({
    ...shared,
    baseOutputDir: 'gql/',
    presetConfig: {},
    plugins: [],
    pluginMap: {},
  });
  const ofPlugin = {
    ...shared,
    filename: 'operations.ts',
    plugins: [{ typescriptOperations: {} }],
    pluginMap: { typescriptOperations },
  };
  const files = {};
  for (const file of [...ofPreset, ofPlugin]) files[file.filename] = await codegen(file);
  return files;
}

describe('graphql-codegen', { timeout: 60_000 }, () => {
  let town, ana, texts, files, typedClient;

  before(async () => {
    files = await generate();
    ({ typedClient } = await inDirectory(async (directory) => {
      await symlink(here('node_modules'), join(directory, 'node_modules'));
      await mkdir(join(directory, 'gql'));
      for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
      for (const name of ['pages.ts', 'tsconfig.json']) await copyFile(here(`codegen/${name}`), join(directory, name));
      await writeFile(join(directory, 'package.json'), '{"type": "module"}');
      await promisify(execFile)(process.execPath, [TSC, '--project', directory]).catch(({ stdout, stderr }) =>
        assert.fail(`TypeScript refuses what was generated, or codegen/pages.ts:\n${stdout}${stderr}`),
      );
      return import(pathToFileURL(join(directory, 'built', 'pages.js')));
    }));
    town = await Town.open();
    ana = await town.person('ana');
    texts = await ana.posts(11);
  });
  after(() => town?.close());

  it('types pages, mutations and subscriptions', () => {
    for (const name of ['gql/graphql.ts', 'operations.ts']) {
      for (const type of ['PageQuery', 'CommentMutationVariables', 'ObjectsQuery', 'EntriesSubscription']) {
        assert.match(files[name], new RegExp(`^export type ${type} = `, 'm'), `${name} lacks ${type}`);
      }
    }
  });

  it('reads pages with typed documents', async () => {
    const client = typedClient(town.graphql, ana.headers.authorization);
    const contents = [];
    let page;
    do {
      page = await client.page(ana.id, page?.endCursor);
      contents.push(...page.contents);
    } while (page.hasNextPage);
    assert.deepEqual(contents, texts.map((text) => `ana, 20…: ${text}`));
  });

  it('sends a typed mutation', async () => {
    const client = typedClient(town.graphql, ana.headers.authorization);
    assert.equal(await client.comment(await ana.post('a typed post'), 'a typed comment'), 'a typed comment');
  });
});
