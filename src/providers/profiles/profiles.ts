/** Returns the profile of one model at one provider: the matching rows (`profile-rows.ts`), overridden by the administrator's settings. */
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import type { ProfileRow } from './profile-row.ts';
import { plainProfile, profileRows } from './profile-rows.ts';

/** Profiles by their access object, which lives as long as the directory caches it. */
const found = new WeakMap<object, Map<string, Profile>>();
/** Clients choose models, so the table of one provider must be bounded. */
const maxModels = 200;

/** Returns the profile of one model at one provider. */
export function profileFor(access: Place, model: string): Profile {
  const profiles = found.get(access) ?? new Map<string, Profile>();
  found.set(access, profiles);
  const known = profiles.get(model);
  if (known !== undefined) return known;
  if (profiles.size >= maxModels) profiles.clear();
  const profile = findProfile(access, model);
  profiles.set(model, profile);
  return profile;
}

type Place = Pick<ProviderAccess, 'kind' | 'baseUrl' | 'profile'>;

function findProfile(access: Place, model: string): Profile {
  const profile = { ...plainProfile };
  for (const row of profileRows) if (matchesRow(row, access, model)) Object.assign(profile, row.profile);
  return Object.assign(profile, access.profile);
}

export function matchesRow({ kind, host, port, model: pattern }: ProfileRow, access: Place, model: string): boolean {
  if (kind !== undefined && ![kind].flat().includes(access.kind)) return false;
  if (pattern !== undefined && !pattern.test(model)) return false;
  if (host === undefined && port === undefined) return true;
  if (!URL.canParse(access.baseUrl)) return false;
  const url = new URL(access.baseUrl);
  if (port !== undefined && url.port !== port) return false;
  return host === undefined || [host].flat().some((name) => url.hostname === name || url.hostname.endsWith(`.${name}`));
}
