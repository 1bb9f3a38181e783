import { useSkillDescription, UseSkillInput, useSkillName } from '../core/skills/skill-prompt.ts';
import { defineTool, ToolFault } from './define-tool.ts';

export const useSkill = defineTool({
  name: useSkillName,
  description: useSkillDescription,
  input: UseSkillInput,
  annotations: { title: 'Load a skill', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ name }, { skills }) {
    if (skills === null) throw new ToolFault('No skills are available. Only agents that list skills can use them.');
    const text = skills.read(name.trim());
    if (text === null) throw new ToolFault(`Unknown skill ${JSON.stringify(name)}. Available skills: ${skills.names().join(', ')}.`);
    const tools = skills.tools(name.trim());
    // `core/tools/gathered-tools.ts` reads the skill's tools from this field of the log.
    return { isError: false, content: [{ type: 'text' as const, text }], ...(tools.length > 0 && { structuredContent: { tools } }) };
  },
});
