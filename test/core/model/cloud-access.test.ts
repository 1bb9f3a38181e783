import { describe, expect, it } from 'vitest';
import { isBedrockClaude, vertexModel } from '../../../src/core/model/cloud-access.ts';
import { readCloud } from '../../../src/core/model/cloud-key.ts';
import { allowsModel } from '../../../src/core/model/model-name.ts';
import { Provider } from '../../../src/core/model/provider.ts';
import { providerBaseUrl } from '../../../src/core/names/provider-kind.ts';
import { awsKey, entraClient, serviceAccount } from '../../fakes/upstreams/clouds.ts';

const bedrock = { kind: 'bedrock', region: 'us-east-1' } as const;
const azure = { kind: 'azure-openai', baseUrl: 'https://my.openai.azure.com' } as const;
const vertex = { kind: 'vertex', project: 'my-project' } as const;
const keyed = (document: object, key: object | string) => ({
  ...document,
  apiKey: typeof key === 'string' ? key : JSON.stringify(key, null, 2),
});
const faultsOf = (document: object) => {
  const parsed = Provider.safeParse(document);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const read = readCloud(parsed.data, parsed.data.apiKey ?? null);
  return read !== null && 'fault' in read ? [`apiKey: ${read.fault}`] : [];
};

describe('a provider of a cloud', () => {
  it.each([
    ['an access key of AWS', keyed(bedrock, awsKey)],
    ['an access key as the AWS CLI prints it', keyed(bedrock, { Version: 1, ...awsKey, Expiration: '2026-12-01T00:00:00Z' })],
    ['a key of Bedrock', keyed(bedrock, 'ABSKQmVkcm9jaw==')],
    ['a client of Entra ID', keyed(azure, entraClient)],
    [
      'a client as the Azure CLI prints it',
      keyed(azure, { ...entraClient, activeDirectoryEndpointUrl: 'https://login.microsoftonline.com', subscriptionId: 's' }),
    ],
    ['the key of a resource', keyed(azure, '0123456789abcdef')],
    ['the key file of a service account', keyed(vertex, serviceAccount)],
  ])('takes %s', (_case, document) => {
    expect(faultsOf(document)).toEqual([]);
  });

  it.each([
    [
      'a service account with another token URL',
      keyed(vertex, { ...serviceAccount, token_uri: 'https://evil.example/token' }),
      /^apiKey: .*token_uri: must be https:\/\/oauth2\.googleapis\.com\/token/,
    ],
    [
      'a service account of another universe',
      keyed(vertex, { ...serviceAccount, universe_domain: 'evil.example' }),
      /^apiKey: .*universe_domain/,
    ],
    ['a key file of a user', keyed(vertex, { ...serviceAccount, type: 'authorized_user' }), /^apiKey: .*type: must be service_account/],
    [
      'an unknown sign-in host',
      keyed(azure, { ...entraClient, activeDirectoryEndpointUrl: 'https://evil.example' }),
      /^apiKey: .*activeDirectoryEndpointUrl/,
    ],
    ['a tenant that is a path', keyed(azure, { ...entraClient, tenantId: '../x' }), /^apiKey: .*tenantId/],
    ['an access key without its secret', keyed(bedrock, { AccessKeyId: awsKey.AccessKeyId }), /^apiKey: .*SecretAccessKey/],
    ['JSON that is cut off', keyed(bedrock, '{"AccessKeyId": "A'), /^apiKey: .*not valid JSON/],
    ['the JSON of a cloud for another service', keyed({ kind: 'openai' }, serviceAccount), /^apiKey: is JSON/],
    ['no region', { kind: 'bedrock' }, /^region: is required/],
    ['no project', { kind: 'vertex' }, /^baseUrl: is required/],
    ['no resource', { kind: 'azure-openai' }, /^baseUrl: is required/],
    ['a region that is a host', { ...bedrock, region: 'x.evil.example/' }, /^region/],
    ['a project that is a path', { ...vertex, project: 'a/../../x' }, /^project/],
    ['a version that is a query', { ...azure, apiVersion: 'v1&x=1' }, /^apiVersion/],
    [
      'a region of a service without regions',
      { kind: 'openai', region: 'us-east-1' },
      /^region: is only for providers of kind bedrock and vertex/,
    ],
    ['a version of a service without versions', { ...vertex, apiVersion: 'v1' }, /^apiVersion: is only for/],
  ])('is refused with %s', (_case, document, fault) => {
    expect(faultsOf(document)).toEqual([expect.stringMatching(fault)]);
    // The message names the member, and never what it contains.
    expect(faultsOf(document).join()).not.toMatch(/PRIVATE KEY|wJalr|secret~of/);
  });

  it.each([
    [bedrock, 'https://bedrock-runtime.us-east-1.amazonaws.com'],
    [{ ...bedrock, region: 'cn-north-1' }, 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn'],
    [
      { ...bedrock, baseUrl: 'https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com/' },
      'https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com',
    ],
    [azure, 'https://my.openai.azure.com/openai/v1'],
    [{ ...azure, apiVersion: '2024-10-21' }, 'https://my.openai.azure.com/openai'],
    [vertex, 'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global'],
  ])('has the base URL of %o', (document, url) => {
    expect(providerBaseUrl(document)).toBe(url);
  });
});

describe('a model of Vertex AI', () => {
  it.each([
    ['gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
    ['models/gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
    ['publishers/google/models/gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
    ['claude-opus-4-5@20251101', 'anthropic', 'claude-opus-4-5@20251101'],
    ['projects/p/locations/l/publishers/anthropic/models/claude-x', 'anthropic', 'claude-x'],
    ['meta/llama-4', 'meta', 'meta/llama-4'],
    ['projects/p/locations/l/endpoints/12', null, 'endpoints/12'],
  ])('is the same under its name %s', (model, publisher, name) => {
    expect(vertexModel(model)).toEqual({ publisher, name });
  });

  it('is allowed under every name that it has, and no other under one of them', () => {
    const allows = (model: string) => allowsModel(['vertex/gemini-2.5-flash'], { provider: 'vertex', kind: 'vertex', model });
    for (const model of ['gemini-2.5-flash', 'google/gemini-2.5-flash', 'publishers/google/models/gemini-2.5-flash'])
      expect(allows(model)).toBe(true);
    for (const model of ['gemini-2.5-flash/gemini-2.5-pro', 'google/gemini-2.5-pro', 'gemini-2.5-flash/models/gemini-2.5-pro'])
      expect(allows(model)).toBe(false);
  });
});

it.each([
  ['anthropic.claude-3-haiku-20240307-v1:0', true],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', true],
  ['arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-x', true],
  ['amazon.nova-pro-v1:0', false],
  ['arn:aws:bedrock:us-east-1:1:application-inference-profile/abc', false],
])('the model %s of Bedrock has the Messages API: %s', (model, expected) => {
  expect(isBedrockClaude(model)).toBe(expected);
});
