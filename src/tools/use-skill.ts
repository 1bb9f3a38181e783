import { useSkillDescription, UseSkillInput, useSkillName } from '../core/skills/use-skill.ts';
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
    const tools = skills.tools(name.trim());
    // What is gathered from here on is read out of this (`core/gathered-tools.ts`).
    return { isError: false, content: [{ type: 'text' as const, text }], ...(tools.length > 0 && { structuredContent: { tools } }) };
  },
});
