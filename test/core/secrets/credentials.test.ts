import { describe, expect, it } from 'vitest';
import { credentialArguments, isCredentialFor, mayBeCredential } from '../../../src/core/secrets/credentials.ts';

const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const hex = (length: number): string => '1a2b3c4d5e6f7089'.repeat(8).slice(0, length);
const random = '4eC39HqLyjWDarjtT1zdp7dc5Zr8Bq';

/** Credentials by the name of their variable, header or parameter. */
const byName: readonly [name: string, value: string][] = [
  ['SEED_PHRASE', 'one two'],
  ['WALLET_SEED', 'abc'],
  ['MNEMONIC', 'one two'],
  ['DB_PASS', 'hunter2'],
  ['pass', 'hunter2'],
  ['PASSPHRASE', 'x y z'],
  ['ROOT_PWD', 'x y z'],
  ['PGPASSWORD', 'p'],
  ['SIGNING_KEY', 'abc'],
  ['apiKey', 'abc'],
  ['API_KEYS', 'a,b'],
  ['NGROK_AUTHTOKEN', 'short'],
  ['npm_config__auth', 'abc'],
  ['HTTP_AUTH', 'abc'],
  ['SESSION_COOKIE', 'a=b'],
  ['SENTRY_DSN', 'https://abc@o1.ingest.sentry.io/1'],
  ['JWT_SECRET', 'a'],
  ['X-Hub-Signature', 'abcd'],
  ['DATABASE_URL', 'anything'],
  ['N8N_WEBHOOK_URL', 'https://n8n.example.com/webhook/x'],
];

/** Credentials by the form of the value, whatever the name. */
const byForm: readonly [what: string, value: string][] = [
  ['a URL with a password', 'postgres://ada:pw@db.example.com/app'],
  ['a URL with a password only', 'redis://:pw@cache:6379'],
  ['several hosts with a password', 'mongodb+srv://ada:p%40w@a.example.com,b.example.com/app'],
  ['a JDBC URL', 'jdbc:postgresql://db/app?user=a&password=pwd1'],
  ['a connection string', 'Server=db;Database=a;User Id=s;Password=hunter2;'],
  ['an account key', 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc123==;EndpointSuffix=core.windows.net'],
  ['a query parameter api-key', 'https://rpc.example.com/?api-key=abcdef'],
  ['a query parameter token', 'wss://rpc.example.com/stream?x=1&token=abcdef'],
  ['a query parameter sig', 'https://a.logic.azure.com/workflows/1?sv=1.0&sig=abc'],
  ['a signed URL', 'https://b.s3.amazonaws.com/x?X-Amz-Signature=abc'],
  ['a hook of Slack', 'https://hooks.slack.com/services/T000/B000/XXXX'],
  ['a workflow of Slack', 'https://hooks.slack.com/triggers/T0/1/abc'],
  ['a hook of Discord', 'https://discord.com/api/webhooks/123456/abc-DEF'],
  ['a hook of Teams', 'https://acme.webhook.office.com/webhookb2/x@y/IncomingWebhook/z/1'],
  ['a bot of Telegram', 'https://api.telegram.org/bot123:abc/sendMessage'],
  ['a token of Telegram', '123456789:AAF-abcdefghijklmnopqrstuvwxyz01234'],
  ['a hook of Zapier', 'https://hooks.zapier.com/hooks/catch/1/abc'],
  ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nabc'],
  ['a private key of OpenPGP', '-----BEGIN PGP PRIVATE KEY BLOCK-----'],
  ['a service account', '{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\\nabc"}'],
  ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc'],
  ['a bearer token', 'Bearer abcdefgh'],
  ['a recovery phrase of 12 words', words],
  ['a recovery phrase of 24 words', `${words} ${words}`],
  ['a key of OpenAI', 'sk-proj-abcdefghijklmnop1234'],
  ['a token of GitHub', `ghp_${'a1'.repeat(18)}`],
  ['a token of GitLab', `glpat-${'a1'.repeat(10)}`],
  ['a token of Slack', 'xoxb-1234567890-abcdef'],
  ['a key of AWS', 'AKIAIOSFODNN7EXAMPLE'],
  ['a key of Google', `AIza${'a1'.repeat(16)}`],
  ['a token of Hugging Face', `hf_${'aB'.repeat(15)}`],
  ['a token of Vault', `hvs.${'aB1'.repeat(10)}`],
  ['a secret of webhooks', `whsec_${'aB1'.repeat(10)}`],
];

/** Values that look random, and may be ids. */
const byChance: readonly string[] = [
  random,
  hex(32),
  hex(64),
  `0x${hex(64)}`,
  'YWxhZGRpbjpvcGVuc2VzYW1lYWxhZGRpbjpvcGVu=',
  'https://mcp.zapier.com/api/mcp/s/ZmFrZS10b2tlbi1mb3ItYS10ZXN0MTIz/mcp',
  'https://eth.example.com/v2/aBc123DeF456gHi789JkL',
];

/** What no person would keep secret. */
const plain: readonly [name: string, value: string][] = [
  ['LOG_LEVEL', 'warn'],
  ['PORT', '8080'],
  ['LANG', 'en_US.UTF-8'],
  ['TZ', 'Europe/Berlin'],
  ['PWD', '/srv/app'],
  ['HOME', '/home/ada'],
  ['SSH_AUTH_SOCK', '/tmp/ssh-1/agent.1'],
  ['MAX_TOKENS', '4096'],
  ['TOKEN_LIMIT', '1000'],
  ['RANDOM_SEED', '42'],
  ['SECRET_NAME', 'prod/db'],
  ['API_KEY_FILE', '/run/secrets/key.txt'],
  ['AWS_ACCESS_KEY_ID', 'abc'],
  ['AUTH_ENABLED', 'true'],
  ['AUTH_METHOD', 'oauth'],
  ['TOKEN_URL', 'https://auth.example.com/oauth/token'],
  ['PASS_THROUGH', 'true'],
  ['PASSENGERS', '4'],
  ['COMPASS', 'north'],
  ['MONKEY', 'yes'],
  ['KEYBOARD', 'us'],
  ['PUBLIC_KEY', 'abc'],
  ['NODE_OPTIONS', '--max-old-space-size=4096'],
  ['IMAGE', 'ghcr.io/github/github-mcp-server:v0.5.0'],
  ['IMAGE', `mcp/x@sha256:${hex(64)}`],
  ['MODEL', 'meta-llama/Llama-3.1-8B-Instruct'],
  ['MODEL', 'gpt-4o-mini-2024-07-18'],
  ['ROLE', 'arn:aws:iam::123456789012:role/MyRole'],
  ['ID', '550e8400-e29b-41d4-a716-446655440000'],
  ['ID', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ['URL', 'https://api.example.com/v1?limit=10'],
  ['DB', 'postgres://db.example.com:5432/app'],
  ['SPEC', `https://raw.githubusercontent.com/acme/api/${hex(40)}/openapi.json`],
  ['PACKAGE', '@modelcontextprotocol/server-filesystem@2025.8.21'],
  ['POOL', 'kubernetes-cluster-production-eu-west-1-node-pool-2'],
  ['AT', '2024-11-05T10-20-30Z'],
  ['PROMPT', 'you are a helpful agent that answers in short and plain words'],
  ['PATH', 'C:\\Program Files\\nodejs\\node.exe'],
  ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36'],
];

/** Texts with a credential in them. */
const inside: readonly string[] = [
  '{"Authorization":"Bearer x1y2z3","Notion-Version":"2022-06-28"}',
  'Authorization: Bearer x1y2z3',
  'X-Api-Key=hunter2',
  '--verbose --token hunter2',
];

describe('a credential', () => {
  it.each(inside)('may be in a text: %s', (value) => expect(mayBeCredential('X', value)).toBe(true));
  it.each(byName)('is recognized by its name: %s', (name, value) => expect(isCredentialFor(name, value)).toBe(true));
  it.each(byForm)('is recognized by its form: %s', (_what, value) => expect(isCredentialFor('X', value)).toBe(true));
  it.each(byChance)('may be what looks random: %s', (value) => {
    expect(mayBeCredential('X', value)).toBe(true);
    expect(isCredentialFor('X', value)).toBe(false);
  });
  it.each(plain)('is not %s=%s', (name, value) => expect(mayBeCredential(name, value)).toBe(false));
});

it.each([
  [['--api-key', 'abc'], [1]],
  [['--token=abc'], [0]],
  [['--header', 'Authorization: Bearer abcdefgh'], [1]],
  [['-H', 'X-Api-Key: abc'], [1]],
  [['-e', 'DB_PASS=hunter2', '-e', 'LEVEL=info'], [1]],
  [['postgres://ada:pw@db/app'], [0]],
  [['--url=https://x.example/?sig=1'], [0]],
  [[random], [0]],
  [
    ['--env=API_KEY=hunter2', '--header=X-Api-Key: hunter2', '--set', 'auth.token=hunter2'],
    [0, 1, 3],
  ],
  [
    ['--pass:hunter2', '/password:hunter2', '--define:TOKEN=hunter2'],
    [0, 1, 2],
  ],
  [
    ['--config={"apiKey":"hunter2"}', '[{"apiKey":"hunter2"}]', "{'token': 'hunter2'}", '"{\\"token\\":\\"hunter2\\"}"'],
    [0, 1, 2, 3],
  ],
  [['-c', 'curl -H "Authorization: Bearer x1y2z3" x'], [1]],
  [
    ['--user', 'ada:hunter2', 'Bearer', 'x1y2z3'],
    [1, 3],
  ],
  [['--header', 'X-Custom: 4eC39HqLyjWDarjtT1zdp7'], [1]],
  [['-v', '/token:/data', '--user', '1000:1000', '-p', '8080:80', '--name=token-server', '/f:C:\\token', '-u=node'], []],
  [['-y', '@modelcontextprotocol/server-filesystem', '/home/ada/notes'], []],
  [['run', '-i', '--rm', `mcp/x@sha256:${hex(64)}`], []],
  [[`github:acme/server#${hex(40)}`, '--port', '8080', '--max-tokens', '4096'], []],
])('of the arguments %j, those at %j are credentials', (args, expected) => {
  expect([...credentialArguments(args)]).toEqual(expected);
});

it('takes time in proportion to the length of the text', () => {
  // Texts that begin a form again and again; one of quadratic cost would take minutes.
  for (const part of [
    'a.',
    'eyJ',
    'eyJ-',
    'a://',
    'sk-',
    'x=1;',
    'password=',
    'maker.ifttt.com/',
    'word ',
    '1a',
    'hooks.slack.com/',
    '://a:',
    '--a=',
    'a="b":"',
    "{'a':'b',",
  ])
    expect(typeof mayBeCredential('X', part.repeat(64_000 / part.length))).toBe('boolean');
});
