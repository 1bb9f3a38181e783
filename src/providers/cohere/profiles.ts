/** The profile rows of Cohere's Chat v2. */
import type { ProfileRow } from '../adapter.ts';

export const cohereRows: readonly ProfileRow[] = [
  {
    kind: 'cohere',
    because: 'tool_choice is REQUIRED or NONE, never one tool by name; response_format not together with tools (API reference, Chat v2)',
    profile: {
      schemas: 'cohere',
      toolChoice: 'required',
      maxCallIdLength: 64,
      reasoning: 'budget',
      formatWithTools: false,
    },
  },
  {
    kind: 'cohere',
    model: /command-(r|a-0|a-vision|a-translate|light|nightly)|aya/i,
    because: 'does not think (guide "Reasoning": command-a-reasoning and later)',
    profile: { reasoning: 'none' },
  },
  {
    kind: 'cohere',
    model: /command-(r|a-0|a-reasoning|a-translate|light|nightly)|aya-expanse/i,
    because: 'text only (models overview: images are for command-a-vision, command-a-plus and aya-vision)',
    profile: { images: false },
  },
  {
    kind: 'cohere',
    model: /command-(r|r-plus)(-0[34]-2024|-08-2024)?$/i,
    because: 'tool_choice is for command-r7b and newer (API reference, Chat v2)',
    profile: { toolChoice: 'absent' },
  },
];
