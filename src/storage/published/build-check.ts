/**
 * Notices toolsets that are compiled with the tools of another build, and tells the Catalog in the background, which compiles them again if it runs
 * this build. Two builds may run at once, so an isolate asks about each build of a workspace once in a while only.
 */
import { limits } from '../../core/limits/limits.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';

/** After the response: `build` may take tens of milliseconds once. */
const delayMs = 1_000;
const askAgainMs = 10 * 60_000;

type BuildCheckParts = {
  build(): string;
  ask(workspace: string): Promise<unknown>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  log: Logger;
  background(work: Promise<unknown>): void;
};

/** `compiled`: the build that a toolset is compiled for; undefined: not known. */
export function createBuildCheck(parts: BuildCheckParts): (workspace: string, compiled: string | undefined) => void {
  const { clock, log } = parts;
  const checked = new Map<string, number>();
  const check = async (workspace: string, compiled: string | undefined): Promise<void> => {
    try {
      await clock.sleep(delayMs);
      if (compiled !== parts.build()) await parts.ask(workspace);
    } catch (error) {
      log.error('the Catalog could not be told that toolsets are of another build', { workspace, cause: String(error) });
    }
  };
  return (workspace, compiled) => {
    const key = `${workspace}:${compiled}`;
    const now = clock.now();
    if ((checked.get(key) ?? Number.NEGATIVE_INFINITY) > now - askAgainMs) return;
    if (checked.size >= limits.maxCachedNames) checked.clear();
    checked.set(key, now);
    parts.background(check(workspace, compiled));
  };
}
