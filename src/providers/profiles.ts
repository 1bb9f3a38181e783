/**
 * The profile of one model at one provider: the matching rows, each overriding those before it, and then the administrator's settings. Each
 * adapter has the rows of its wire; those of `compatible-rows.ts` apply to all.
 */
import { getOrBuild, memoizeByObject } from '../core/memoize.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import type { Profile } from '../core/model/provider-profile.ts';
import type { ProfileRow } from './adapter.ts';
import { compatibleRows } from './compatible-rows.ts';
import { adapters } from './registry.ts';

export const profileRows: readonly ProfileRow[] = [
  ...[...new Set(Object.values(adapters))].flatMap((adapter) => adapter.profileRows),
  ...compatibleRows,
];

/** Profiles by their access object, which lives as long as the directory caches it. */
const profilesOf = memoizeByObject((_access: Place) => new Map<string, Profile>());
/** Clients choose models, so the table of one provider must be bounded. */
const maxModels = 200;

/** Returns the profile of one model at one provider. */
export function profileFor(access: Place, model: string): Profile {
  return getOrBuild(profilesOf(access), model, maxModels, () => findProfile(access, model));
}

type Place = Pick<ProviderAccess, 'kind' | 'baseUrl' | 'profile' | 'cloud'>;

function findProfile(access: Place, model: string): Profile {
  const profile = { ...plainProfile };
  for (const row of profileRows) if (matchesRow(row, access, model)) Object.assign(profile, row.profile);
  return Object.assign(profile, access.profile);
}

export function matchesRow({ kind, cloud, host, port, model: pattern }: ProfileRow, access: Place, model: string): boolean {
  if (kind !== undefined && ![kind].flat().includes(access.kind)) return false;
  if (cloud !== undefined && cloud !== access.cloud?.kind) return false;
  if (pattern !== undefined && !pattern.test(model)) return false;
  if (host === undefined && port === undefined) return true;
  if (!URL.canParse(access.baseUrl)) return false;
  const url = new URL(access.baseUrl);
  if (port !== undefined && url.port !== port) return false;
  return host === undefined || [host].flat().some((name) => url.hostname === name || url.hostname.endsWith(`.${name}`));
}

/** The behavior of most Chat Completions servers. */
export const plainProfile: Profile = {
  api: 'chat',
  normalize: false,
  exact: false,
  protocol: 'native',
  schemas: 'full',
  strictTools: false,
  jsonMode: true,
  outputSchema: true,
  maxToolDescription: null,
  maxTools: null,
  toolChoice: 'forced',
  requiredToolChoice: null,
  maxTokensField: 'max_tokens',
  defaultMaxTokens: null,
  maxOutputTokens: 131_072,
  imageTokens: 10_000,
  contextTokens: null,
  keepAlive: null,
  streamUsage: true,
  contentNeverNull: false,
  parallelToolCalls: true,
  callIdLength: null,
  maxCallIdLength: 40,
  keepCallIds: false,
  noCallIds: false,
  toolResultName: false,
  assistantAfterToolResult: false,
  systemInUser: false,
  systemPlace: 'anywhere',
  prefill: 'plain',
  images: true,
  imagesInResults: false,
  files: [],
  callSignatures: false,
  webSearch: false,
  formatWithTools: true,
  seedField: 'seed',
  topK: false,
  noSampling: false,
  noPenalties: false,
  noStop: false,
  maxStops: null,
  extraSettings: [],
  cacheMarks: 'none',
  thinkingSwitch: false,
  echoReasoning: false,
  thinkTags: 'none',
  refusedFields: [],
  boundReasoning: false,
  reasoning: 'effort',
  efforts: null,
  minReasoningBudget: 0,
};
