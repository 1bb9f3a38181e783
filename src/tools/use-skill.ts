import { useSkillDescription, UseSkillInput, useSkillName } from '../core/use-skill.ts';
import { defineTool, ToolFault } from './define-tool.ts';

export const useSkill = defineTool({
  name: useSkillName,
  description: useSkillDescription,
  input: UseSkillInput,
  annotations: { title: 'Read up a skill', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ name }, { skills }) {
    if (skills === null) throw new ToolFault('There are no skills here: they belong to agents, and come with a turn of one that has some.');
    const text = skills.read(name.trim());
    if (text === null) throw new ToolFault(`There is no skill ${JSON.stringify(name)}. There are: ${skills.names().join(', ')}.`);
    return text;
  },
});
