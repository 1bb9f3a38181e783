/**
 * Who may use more of something that keys and workspaces share, such as places for requests or rows that wait. Pure: the caller counts.
 * Each key and each workspace has a maximum, and none may use more than `shareOfFree` times what is then free: the nearer the whole is to
 * full, the less one may have of it, so that a newcomer always finds some (the dynamic thresholds of shared packet buffers; Choudhury and
 * Hahne, 1998).
 */

/** One key alone gets three quarters of what its workspace has, two get three sevenths each. */
const shareOfFree = 3;

export type ShareBounds = { perKey: number; perWorkspace: number; total: number };
/** What is used now, by the key, by its workspace and by all. */
export type ShareUse = { key: number; workspace: number; total: number };
/** What is used up. `service`: the sum over all workspaces. */
export type Shortage = { of: 'key' | 'workspace' | 'service'; max: number; used: number };

/** `isGranted`: an administrator has set the maximum of the key or workspace, which then is its share. */
export function findShortage(bounds: ShareBounds, used: ShareUse, amount: number, isGranted = false): Shortage | null {
  const { perKey, perWorkspace, total } = bounds;
  if (used.key + amount > perKey) return { of: 'key', max: perKey, used: used.key };
  const ofWorkspace = { of: 'workspace', max: perWorkspace, used: used.workspace } as const;
  if (used.workspace + amount > perWorkspace) return ofWorkspace;
  const ofService = { of: 'service', max: total, used: used.total } as const;
  if (used.total + amount > total) return ofService;
  if (isGranted) return null;
  if (used.key + amount > shareOfFree * (perWorkspace - used.workspace)) return ofWorkspace;
  return used.workspace + amount > shareOfFree * (total - used.total) ? ofService : null;
}
