/**
 * Takes secret values that a call has read out of what it answers, plain, base64 and URL-encoded, before anything is
 * stored or logged. Only values that were really read are looked for, so an ordinary call costs nothing.
 */
import type { ContentBlock, ToolResult } from '../core/tool.ts';

/** Shorter values would blot out ordinary text; the secrets door refuses them when they are stored. */
const minSecretLength = 4;

export type Redactor = { keep(value: string): string; clean(result: ToolResult): ToolResult };

export function createRedactor(): Redactor {
  const forms = new Set<string>();
  return {
    keep(value) {
      if (value.length >= minSecretLength) for (const form of spellings(value)) forms.add(form);
      return value;
    },
    clean(result) {
      if (forms.size === 0) return result;
      const clean = (text: string): string => {
        let rest = text;
        for (const form of forms) rest = rest.replaceAll(form, '[secret]');
        return rest;
      };
      return {
        ...result,
        content: result.content.map((block) => cleanBlock(block, clean)),
        ...(result.structuredContent && {
          structuredContent: JSON.parse(clean(JSON.stringify(result.structuredContent))) as Record<string, unknown>,
        }),
      };
    },
  };
}

function spellings(value: string): string[] {
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(value)));
  const bare = base64.replace(/=+$/, '');
  const inJson = JSON.stringify(value).slice(1, -1);
  return [value, inJson, base64, bare, bare.replaceAll('+', '-').replaceAll('/', '_'), encodeURIComponent(value)];
}

function cleanBlock(block: ContentBlock, clean: (text: string) => string): ContentBlock {
  if (block.type === 'text') return { ...block, text: clean(block.text) };
  if (block.type === 'resource' && block.resource.text !== undefined)
    return { ...block, resource: { ...block.resource, text: clean(block.resource.text) } };
  return block;
}
