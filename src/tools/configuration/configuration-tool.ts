/**
 * Defines a configuration tool: it reads a request, works with the toolset editor of the key, and returns one answer as structured content
 * and as text. Errors also match the declared output schema, since strict MCP clients accept nothing else.
 */
import type { z } from 'zod';
import { faultText } from '../../core/configuration/refusals.ts';
import { Problem } from '../../core/problem.ts';
import { errorResult, textResult, type ToolAnnotations, type ToolResult, type ToolResultCode } from '../../core/tools/tool.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import { defineTool, ToolFault, type DefinedTool } from '../define-tool.ts';

/** `text`: the answer as text for models. `isError`: nothing was done, and the answer says why. */
export type ConfigurationAnswer<Answer> = { answer: Answer; text: string; isError?: boolean };

export type ConfigurationToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  annotations: Pick<ToolAnnotations, 'readOnlyHint' | 'destructiveHint' | 'idempotentHint'>;
  /** Returns the answer for a call that failed. */
  failed(error: string): z.infer<Output>;
  /** Throws `ToolFault` or `Problem`. */
  run(request: z.infer<Input>, editor: ToolsetEditor): Promise<ConfigurationAnswer<z.infer<Output>>>;
};

export function defineConfigurationTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ConfigurationToolSpec<Input, Output>,
): DefinedTool {
  const { name, title, description, input, output, annotations } = spec;
  const refuse = (code: ToolResultCode, error: string): ToolResult => ({
    isError: true,
    code,
    content: [{ type: 'text', text: `Nothing was done. ${error}` }],
    structuredContent: spec.failed(error),
  });
  return defineTool({
    name,
    description,
    input,
    output,
    annotations: { title, openWorldHint: false, ...annotations },
    refuse: (issues) =>
      refuse('invalid_arguments', faultText(issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)))),
    async run(request, { configuration }) {
      if (configuration === null) return refuse('not_allowed', 'Toolsets cannot be configured in this context.');
      try {
        const { answer, text, isError = false } = await spec.run(request, configuration);
        return { ...(isError ? errorResult('tool_error', text) : textResult(text)), structuredContent: answer };
      } catch (error) {
        if (error instanceof ToolFault) return refuse('tool_error', error.message);
        if (error instanceof Problem) return refuse(error.code === 'forbidden' ? 'not_allowed' : 'tool_error', error.detail);
        throw error;
      }
    },
  });
}
