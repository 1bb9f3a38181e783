/** What a turn in memory stores: its files, with those of its skills, and its long results. */
import type { TurnStorage } from '../engine/turn/memory-turn.ts';
import { createMemoryFiles } from './files/memory-files.ts';
import { withSkillFiles } from './files/skill-files.ts';
import { createMemoryResults } from './memory-results.ts';

export function createTurnStorage(now: () => number): TurnStorage {
  const files = createMemoryFiles(now);
  return { results: createMemoryResults(), filesWith: (skills) => withSkillFiles(files, skills) };
}
