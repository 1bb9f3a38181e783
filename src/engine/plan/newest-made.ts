/**
 * The made tools of a plan, read again where its session runs. The plan may have been made in another isolate, which does not know for up to
 * `limits.freshReadMs` what a turn of this session has made since. Tools made later, in the turn itself, are offered from the next one on.
 */
import { findTool, toolsNamed } from '../../core/toolset/alias-map.ts';
import type { EditionPointer, EditionTool } from '../../core/toolset/edition-tool.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { CompiledToolset, Directory } from '../../ports/directory.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';

/** `caller`: of the turn. `session`: when it was created, and when its current object started. Never throws. */
export async function readNewestMade(
  { directory, log, clock }: { directory: Pick<Directory, 'made' | 'privateMade'>; log: Logger; clock: Clock },
  { workspace, keyId }: Pick<Principal, 'workspace' | 'keyId'>,
  session: { openedAt: number; createdAt: number },
  plan: Plan,
): Promise<Plan> {
  if (plan.offersMade !== true) return plan;
  // An earlier object of the session may have made tools in another isolate.
  const isReopened = session.openedAt - session.createdAt > limits.publishedTtlMs;
  const newest = isReopened && clock.now() - session.openedAt < limits.freshReadMs;
  try {
    const [made, ownMade] = await Promise.all([directory.made(workspace, { newest }), directory.privateMade(workspace, keyId, { newest })]);
    return {
      ...plan,
      ...(isUsable(plan, made, plan.made) && { made: made.pointer }),
      ...(isUsable(plan, ownMade, plan.ownMade) && { ownMade: ownMade.pointer }),
    };
  } catch (error) {
    log.error('the newest made tools could not be read: the turn has those of its plan', { workspace, cause: String(error) });
    return plan;
  }
}

/**
 * Says from when a name can be called that the plan does not have: that of a tool which was made after its turn began. null: there is none, or
 * the made tools cannot be read. `caller`: of the turn.
 */
export async function whyNotYet(
  { directory, log }: { directory: Pick<Directory, 'made' | 'privateMade' | 'edition'>; log: Logger },
  { workspace, keyId }: Pick<Principal, 'workspace' | 'keyId'>,
  plan: Plan,
  name: string,
): Promise<string | null> {
  if (plan.offersMade !== true) return null;
  const findNew = async (read: Promise<CompiledToolset | null>, before: EditionPointer | undefined): Promise<EditionTool | null> => {
    const found = await read;
    const tool = found === null || !isNewer(found.pointer, before) ? null : findTool(found.names, name);
    const isOld =
      tool !== null && before !== undefined && findTool((await directory.edition(workspace, before)).names, tool.canonical) !== null;
    return isOld ? null : tool;
  };
  const newest = { newest: true };
  const found = await Promise.all([
    findNew(directory.privateMade(workspace, keyId, newest), plan.ownMade),
    findNew(directory.made(workspace, newest), plan.made),
  ]).catch((error: unknown) => {
    log.error('the newest made tools could not be read: a call of an unknown name is answered without them', {
      workspace,
      cause: String(error),
    });
    return [];
  });
  const tool = found.find((one) => one !== null);
  return tool == null
    ? null
    : `${tool.wireName} was made in this turn: it can be called from the next turn on. Continue without it, or answer.`;
}

/** The plan decided which tools the client's own tools replace, so newer made tools must not have their names. */
function isUsable({ clientTools = [] }: Plan, found: CompiledToolset | null, before: EditionPointer | undefined): found is CompiledToolset {
  if (found === null || !isNewer(found.pointer, before)) return false;
  return clientTools.every(({ name }) => toolsNamed(found.names, name).length === 0);
}

function isNewer({ version, revision }: EditionPointer, before: EditionPointer | undefined): boolean {
  if (before === undefined) return true;
  return version > before.version || (version === before.version && revision > before.revision);
}
