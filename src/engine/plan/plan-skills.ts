/**
 * The skills of a turn: their heads in its plan, and their bodies, which a run reads once so that all its calls see the same version.
 * Changed or removed skills take effect in the next turn.
 */
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { fold } from '../../core/names/fold.ts';
import { isOnDemand } from '../../core/turn/offered-tools.ts';
import type { AcceptedNames, Plan } from '../../core/turn/plan.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import type { PlanSkill, Skill } from '../../core/skills/skill.ts';
import { acceptedSkillNames, readSkillNames } from '../../core/skills/skill-names.ts';
import { skillText, mentionedTools } from '../../core/skills/skill-prompt.ts';
import type { Directory } from '../../ports/directory.ts';
import type { SkillReader } from '../../ports/tool-executor.ts';

/**
 * Returns the heads in the agent's order, without missing skills, then those of the toolset, and the names in them that calls may use as well. `names`: what the turn
 * offers.
 */
export async function planSkills(
  directory: Pick<Directory, 'skill'>,
  workspace: string,
  wanted: readonly string[],
  names: AliasMap | null,
  ofToolset: readonly Skill[] = [],
): Promise<{ skills: PlanSkill[]; accepted: AcceptedNames }> {
  const own = await readSkills(directory, workspace, wanted);
  const shared = ofToolset.filter(({ name }) => !own.some((skill) => skill.name === name));
  const found = [...own, ...shared];
  const skills = found.map((skill, index): PlanSkill => {
    const { missing } = readSkillNames(skill, names);
    const { name, description } = skill;
    return { name, description, ...(missing.length > 0 && { unavailable: [...missing] }), ...(index >= own.length && { ofToolset: true }) };
  });
  return { skills, accepted: names === null ? {} : Object.assign({}, ...found.map((skill) => acceptedSkillNames(skill, names))) };
}

export async function readSkills(directory: Pick<Directory, 'skill'>, workspace: string, wanted: readonly string[]): Promise<Skill[]> {
  const found = await Promise.all([...new Set(wanted)].map((name) => nullIfNotFound(directory.skill(workspace, name))));
  return found.filter((skill) => skill !== null);
}

/** Returns the skills of a plan. Does no work for a plan without skills. */
export async function readPlanSkills(directory: Pick<Directory, 'skill'>, workspace: string, plan: Pick<Plan, 'skills'>): Promise<Skill[]> {
  const own = (plan.skills ?? []).filter(({ ofToolset }) => ofToolset !== true);
  return own.length === 0
    ? []
    : await readSkills(
        directory,
        workspace,
        own.map(({ name }) => name),
      );
}

/** Returns the skills of a plan: those that were read, and those of its edition. `offered`: what the turn offers. */
export function joinSkills(read: readonly Skill[], { skills = [] }: Pick<Plan, 'skills'>, offered: AliasMap | null): readonly Skill[] {
  const ofToolset = new Set(skills.flatMap((skill) => (skill.ofToolset === true ? [skill.name] : [])));
  if (ofToolset.size === 0) return read;
  const { edition } = offered?.inner ?? offered ?? {};
  return [...read, ...(edition?.skills ?? []).filter(({ name }) => ofToolset.has(name))];
}

/** `names` is called for each read, since the text names tools as they are called at that time. */
export function createSkillReader(skills: readonly Skill[], names: () => AliasMap | null): SkillReader | null {
  if (skills.length === 0) return null;
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  // Accepts `PDF Processing` for `pdf-processing`; of names that fold alike, the first.
  const folded = new Map(skills.toReversed().map((skill) => [fold(skill.name), skill]));
  const find = (name: string): Skill | undefined => byName.get(name) ?? folded.get(fold(name));
  return {
    names: () => [...byName.keys()],
    read(name) {
      const skill = find(name);
      return skill === undefined ? null : skillText(skill, names());
    },
    tools(name) {
      const skill = find(name);
      const offered = names();
      return skill === undefined || offered === null || !isOnDemand(offered) ? [] : mentionedTools(skill, offered);
    },
  };
}
