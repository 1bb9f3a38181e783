/** What is known of one model at one provider: the rows that match it (`profile-rows.ts`), and over them what its administrator says. */
import type { ProviderAccess } from '../core/provider.ts';
import type { Profile } from '../core/provider-profile.ts';
import { plainProfile, profileRows } from './profile-rows.ts';

/** Found profiles by the access that they belong to; an access lives as long as the directory keeps it. */
const found = new WeakMap<object, Map<string, Profile>>();
/** Models come from callers: the table of one provider may not grow with them. */
const maxModels = 200;

/** What is known of one model at one provider. */
export function profileFor(access: Pick<ProviderAccess, 'kind' | 'baseUrl' | 'profile'>, model: string): Profile {
  const profiles = found.get(access) ?? new Map<string, Profile>();
  found.set(access, profiles);
  const known = profiles.get(model);
  if (known !== undefined) return known;
  if (profiles.size >= maxModels) profiles.clear();
  const profile = findProfile(access, model);
  profiles.set(model, profile);
  return profile;
}

function findProfile(access: Pick<ProviderAccess, 'kind' | 'baseUrl' | 'profile'>, model: string): Profile {
  const host = hostOf(access.baseUrl);
  const profile = { ...plainProfile };
  for (const row of profileRows) {
    if (row.kind !== undefined && row.kind !== access.kind) continue;
    if (row.host !== undefined && host !== row.host && !host.endsWith(`.${row.host}`)) continue;
    if (row.model !== undefined && !row.model.test(model)) continue;
    Object.assign(profile, row.profile);
  }
  return Object.assign(profile, access.profile);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}
