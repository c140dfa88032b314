// Every package that the clients bring has a permissive licence, and an exact version with a checksum.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';

const ALLOWED = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']);

const lock = JSON.parse(await readFile(new URL('../package-lock.json', import.meta.url), 'utf8'));
const packages = Object.entries(lock.packages).filter(([path]) => path);

it('every package has a permissive licence', () => {
  const refused = packages.filter(([, { license }]) => !ALLOWED.has(license));
  assert.deepEqual(refused.map(([path, { license }]) => `${path}: ${license}`), []);
});

it('every package has a checksum', () => {
  assert.deepEqual(packages.filter(([, { integrity }]) => !integrity).map(([path]) => path), []);
});

it('every version that we ask for is exact', () => {
  const asked = Object.entries(lock.packages[''].devDependencies);
  assert.deepEqual(asked.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version)), []);
});
