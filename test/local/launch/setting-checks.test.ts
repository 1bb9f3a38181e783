import { describe, expect, it } from 'vitest';
import { environmentHelp, readEnvironment } from '../../../src/local/launch/environment.ts';
import { settingChecks, settingFaults } from '../../../src/local/launch/setting-checks.ts';

it('has a check for each setting that the help lists, and for no other', () => {
  const listed = new Set(environmentHelp.match(/\b(?:PORT|[A-Z]+(?:_[A-Z]+)+)\b/g));
  expect(Object.keys(settingChecks).sort()).toEqual([...listed].sort());
});

describe('a setting that cannot be used', () => {
  it.each<[name: string, values: string[], advice: RegExp]>([
    ['PORT', ['80a', '-1', '65536', '1.5', '0x10', '1e3'], /0 \(any free port\) to 65535/],
    ['MONIKER_HOST', ['moniker.example', '1.2.3', '127.0.0.1:80'], /IP address/],
    ['MONIKER_ROOT_KEY', ['secret'], /6 characters, and needs at least 32.*openssl/],
    ['MONIKER_MASTER_KEY', ['short'], /at least 32/],
    ['MONIKER_MASTER_KEY_PREVIOUS', ['short'], /at least 32/],
    ['MONIKER_ALIASES', ['no', 'false', 'ON'], /on or off/],
    ['MONIKER_AUDIT_SHARDS', ['99', '0', '1.5', 'many'], /1 to 32/],
    ['MONIKER_LOG', ['loud', 'warn', 'INFO'], /error, info or debug/],
    ['MONIKER_METRICS', ['yes'], /on or off/],
    ['MONIKER_ALLOW_STDIO', ['on', 'true'], /Use api, or omit it/],
    ['MONIKER_PUBLIC_URL', ['moniker.example.com', 'ftp://a', 'https://u:p@a.example', 'https://a.example/?x=1'], /https:\/\/moniker/],
    ['MONIKER_URL', ['localhost:8787'], /http\(s\) URL/],
    [
      'MONIKER_ALLOWED_ORIGINS',
      ['*', 'https://a.example,https://b.example/', 'a.example', 'https://A.example'],
      /origin as browsers send it/,
    ],
    ['MONIKER_ALLOW_PRIVATE_HOSTS', ['10.0.0.1', '127.0.0.1:*,http://x:1', 'tools:a:1'], /host:port/],
    ['MONIKER_OAUTH_REDIRECT_SCHEMES', ['javascript', 'my app'], /default,my-app/],
    ['MONIKER_TRUSTED_PROXY_HEADER', ['x-forwarded-for: 1', 'x forwarded'], /name of a header/],
    ['MONIKER_OWNER_EMAILS', ['ada', 'ada@example.com,@'], /an email/],
    ['MONIKER_GITHUB_GROUPS', ['x', '{"map": []}', '{"map": [{"group": "a", "role": "king"}]}'], /MONIKER_GITHUB_GROUPS cannot be read/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ['collector:4318'], /http\(s\) URL/],
    ['OTEL_EXPORTER_OTLP_HEADERS', ['authorization Bearer x'], /name=value/],
    ['OTEL_TRACES_SAMPLER_ARG', ['2', 'all'], /0 to 1/],
    ['OTEL_BSP_SCHEDULE_DELAY', ['-1', '60000'], /0 to 20000/],
    ['OTEL_SDK_DISABLED', ['maybe'], /on or off/],
    ['OPENAI_API_KEY', ['sk-a b', 'sk-…'], /Copy it again/],
    ['OLLAMA_HOST', ['http://'], /host:port/],
  ])('%s: %j is named, with what to write', (name, values, advice) => {
    for (const value of values) {
      const faults = settingFaults({ [name]: value }).filter((fault) => !fault.includes('has no effect'));
      expect(faults, value).toEqual([expect.stringMatching(new RegExp(`^${name} .*cannot be (?:used|read)`))]);
      expect(faults[0], value).toMatch(advice);
    }
  });

  it('is named together with all others, and keys are not repeated', () => {
    const faults = settingFaults({ PORT: 'x', MONIKER_LOG: 'loud', OPENAI_API_KEY: 'sk not-to-be-shown', MONIKER_ALIASES: 'no' });
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(['PORT', 'MONIKER_ALIASES', 'MONIKER_LOG', 'OPENAI_API_KEY']);
    expect(faults.join()).not.toContain('not-to-be-shown');
  });

  it('can be one that has no effect without another', () => {
    expect(settingFaults({ MONIKER_GITHUB_CLIENT_ID: 'id' })).toEqual([
      'MONIKER_GITHUB_CLIENT_ID has no effect without MONIKER_GITHUB_CLIENT_SECRET. Set it too, or omit all.',
    ]);
    expect(settingFaults({ MONIKER_OIDC_NAME: 'Us' })).toEqual([
      'MONIKER_OIDC_NAME has no effect without MONIKER_OIDC_ISSUER and MONIKER_OIDC_CLIENT_ID. Set it too, or omit all.',
    ]);
    expect(settingFaults({ MONIKER_ACCESS_TEAM: 'us', MONIKER_ACCESS_AUD: 'x' })).toEqual([]);
  });

  it('is not one that is empty, or has one of its values', () => {
    expect(settingFaults({ PORT: ' ', MONIKER_LOG: '', MONIKER_ALIASES: ' on ' })).toEqual([]);
    const valid = {
      ...{ PORT: '0', MONIKER_HOST: '::', MONIKER_LOG: 'debug', MONIKER_METRICS: 'on', MONIKER_AUDIT_SHARDS: '32', MONIKER_ALIASES: 'off' },
      ...{ MONIKER_PUBLIC_URL: 'https://a.example/moniker/', MONIKER_ALLOWED_ORIGINS: 'https://a.example, chrome-extension://abc,null' },
      ...{ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*, providers:*.internal:11434,', MONIKER_OAUTH_REDIRECT_SCHEMES: 'default,my-app' },
      ...{ OTEL_TRACES_SAMPLER_ARG: '0.25', OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer x,x-a=b', OLLAMA_HOST: '0.0.0.0' },
    };
    expect(settingFaults(valid)).toEqual([]);
  });

  it('can be a folder of skills that does not exist', () => {
    expect(readEnvironment({ MONIKER_SKILLS_DIR: '/nowhere' }).faults).toEqual([expect.stringContaining('/nowhere is not a folder')]);
  });
});
