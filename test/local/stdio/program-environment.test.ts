import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { programEnvironment, userPath } from '../../../src/local/stdio/program-environment.ts';

const npm = '/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin';

describe('the PATH of programs', () => {
  it.each([
    ['a shell', '/usr/local/bin:/usr/bin', '/usr/local/bin:/usr/bin'],
    ['npm start', `/app/node_modules/.bin:/node_modules/.bin:${npm}:/usr/bin:/bin`, '/usr/bin:/bin'],
    ['npx in a script of npm', `/x/_npx/1/node_modules/.bin:/app/node_modules/.bin:${npm}:/app/node_modules/.bin:${npm}:/bin`, '/bin'],
    ['pnpm', '/app/node_modules/.bin:/usr/lib/node_modules/pnpm/dist/node-gyp-bin:/bin', '/bin'],
    ['Yarn 1', '/tmp/yarn--1700000000-0.5:/app/node_modules/.bin:/usr/libexec/lib/node_modules/npm/bin/node-gyp-bin:/bin', '/bin'],
    ['a script that adds a folder', `/opt/tools:/app/node_modules/.bin:${npm}:/bin`, '/opt/tools:/bin'],
    ['a user with packages in PATH', `/app/node_modules/.bin:${npm}:/home/ada/node_modules/.bin:/bin`, '/home/ada/node_modules/.bin:/bin'],
    ['an image with packages in PATH', '/app/node_modules/.bin:/usr/bin', '/app/node_modules/.bin:/usr/bin'],
  ])('is the one of the user when %s starts the launcher', (_title, given, expected) => {
    expect(userPath(given)).toBe(expected);
  });
});

describe('the environment of programs', () => {
  const variablesOf = (given: Record<string, string>): string[] => Object.keys(programEnvironment(given, tmpdir()).variables);

  it('has locales, proxies, certificates and the settings of package runners, and no keys of the service', () => {
    const passed = ['PATH', 'HOME', 'LANG', 'LC_TIME', 'https_proxy', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS', 'PYENV_ROOT', 'DOCKER_HOST'];
    const settings = ['NPM_CONFIG_REGISTRY', 'npm_config_cafile', 'npm_config_//r.example/:_authToken', 'UV_INDEX_URL', 'PIP_INDEX_URL'];
    const others = ['MONIKER_ROOT_KEY', 'OPENAI_API_KEY', 'NPM_TOKEN', 'UV_PUBLISH_TOKEN', 'NODE_OPTIONS', 'npm_package_name'];
    const given = Object.fromEntries([...passed, ...settings, ...others].map((name) => [name, 'value']));
    expect(variablesOf(given)).toEqual([...passed, ...settings]);
    expect(variablesOf({ LANG: '() { :; }' })).toEqual([]);
  });

  it('has no settings that npm made for its script', () => {
    const made = ['npm_config_local_prefix', 'npm_config_prefix', 'npm_config_user_agent', 'npm_config_node_gyp'];
    const given = Object.fromEntries([...made, 'npm_config_registry', 'NPM_CONFIG_PREFIX'].map((name) => [name, 'value']));
    expect(variablesOf({ ...given, npm_lifecycle_event: 'start' })).toEqual(['npm_config_registry', 'NPM_CONFIG_PREFIX']);
    expect(variablesOf(given)).toEqual(Object.keys(given));
  });
});

describe('the home of programs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'moniker-home-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is in the data folder if the user has none', () => {
    const own = programEnvironment({ HOME: homedir() }, folder);
    expect(own).toEqual({ home: homedir(), variables: { HOME: homedir() } });
    const home = join(folder, 'home');
    expect(programEnvironment({ HOME: '/no/such/home' }, folder)).toEqual({ home, variables: { HOME: home } });
  });
});
