/**
 * Who may use more of something that keys and workspaces share, such as places for requests or rows that wait. Pure: the caller counts.
 * Each key and each workspace has a maximum, and none may use more than `shareOfFree` times what is then free: the nearer the whole is to
 * full, the less one may have of it, so that a newcomer always finds some (the dynamic thresholds of shared packet buffers; Choudhury and
 * Hahne, 1998).
 */

/** One key alone gets three quarters of what its workspace has, two get three sevenths each. */
const shareOfFree = 3;

/** `limit`: the name of the bound in a refusal. `what`: what is counted, in the plural. */
export type ShareBounds = { limit: string; what: string; perKey: number; perWorkspace: number; total: number };
export type ShareOwner = { workspace: string; keyId: string };
/** What is used now, by the key, by its workspace and by all. */
export type ShareUse = { key: number; workspace: number; total: number };
/** Maxima that an administrator has set, in place of those of the bounds: then each is its holder's share, however much is free. */
export type GrantedShare = { key?: number | undefined; workspace?: number | undefined };

/** What was refused: the bound, whose it is, and how much of it is used. `service`: the sum over all workspaces. */
export type ShareShortage = Pick<ShareBounds, 'limit' | 'what'> & {
  of: 'key' | 'workspace' | 'service';
  name: string;
  max: number;
  used: number;
};

export function findShortage(
  bounds: ShareBounds,
  { workspace, keyId }: ShareOwner,
  used: ShareUse,
  amount: number,
  granted: GrantedShare = {},
): ShareShortage | null {
  const { limit, what, total } = bounds;
  const perKey = granted.key ?? bounds.perKey;
  // A workspace without a maximum of its own has room for what its key was granted.
  const perWorkspace = granted.workspace ?? Math.max(bounds.perWorkspace, granted.key ?? 0);
  if (used.key + amount > perKey) return { limit, what, of: 'key', name: keyId, max: perKey, used: used.key };
  const ofWorkspace = { limit, what, of: 'workspace', name: workspace, max: perWorkspace, used: used.workspace } as const;
  if (used.workspace + amount > perWorkspace) return ofWorkspace;
  const ofService = { limit, what, of: 'service', name: 'service', max: total, used: used.total } as const;
  if (used.total + amount > total) return ofService;
  if (granted.key !== undefined || granted.workspace !== undefined) return null;
  if (used.key + amount > shareOfFree * (perWorkspace - used.workspace)) return ofWorkspace;
  return used.workspace + amount > shareOfFree * (total - used.total) ? ofService : null;
}
