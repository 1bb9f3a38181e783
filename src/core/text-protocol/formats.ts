/**
 * The formats in which models write tool calls into their text, one table for all of them: the marks around a block, and how its content
 * is read. `tool-calls.ts` finds the marks, `call-block.ts` collects a block, and `written-calls.ts` reads its content.
 * Sources are chat templates on Hugging Face and the parsers of servers: `vllm/…` is vllm-project/vllm: vllm/tool_parsers/…_tool_parser.py,
 * `llama.cpp` is ggml-org/llama.cpp: tests/test-chat.cpp.
 */
import type { TextInput } from './text-input.ts';

/**
 * `calls`: JSON with names and arguments, or calls as Python writes them. The other contents follow the tool's name. `arguments`: one JSON
 * object. `parameters`: a tag for each argument.
 */
export type BlockContent = 'calls' | 'arguments' | 'parameters';

/** `head` matches what precedes the content, and its group `name` is the tool; `begins`: the characters that begin the content. */
export type Form = { head: RegExp; content: BlockContent; begins: string };

export type CallMark = {
  kind: 'open';
  open: string;
  /** null: the end of the content ends it. */
  close: string | null;
  forms: readonly Form[];
  /** Only a call begins this way. Otherwise the content decides, and must be exact. */
  certain: boolean;
};

export type Mark =
  | CallMark
  | { kind: 'close'; open: string }
  /** Reasoning, or a tool result, which a model must not write. The text up to `close` contains no calls. */
  | { kind: 'reasoning' | 'response'; open: string; close: string }
  /** Removed: the end of reasoning without its start. */
  | { kind: 'frame'; open: string };

type Format = { name: string; models: string; source: string; marks: readonly CallMark[] };

const form = (content: BlockContent, begins: string, head: RegExp): Form => ({ content, begins, head });

const json = form('calls', '{[', /^\s*(?:```\w*\s*)?$/);
const python = form('calls', '(', /^\s*[\w.]{1,128}$/);
/** The rest of an opening tag that has the name, such as `get_weather">`. */
const tagForms = [
  form('arguments', '{', /^["']?(?<name>[\w.:/-]{1,128})["']?[^<>]*>\s*(?:```\w*\s*)?$/),
  form('parameters', '<', /^["']?(?<name>[\w.:/-]{1,128})["']?[^<>]*>\s*$/),
];
const glm = form('parameters', '<', /^\s*(?<name>[\w.:/-]{1,128})\s*$/);
const deepSeek3 = form('arguments', '{', /^\s*(?<name>[\w.:/-]{1,128})\s*(?:```\w*\s*)?$/);
const deepSeek31 = form('arguments', '{', /^\s*(?<name>[\w.:/-]{1,128})\s*<｜tool▁sep｜>\s*(?:```\w*\s*)?$/);
const kimi = form('arguments', '{', /^\s*(?<name>[\w.:/-]{1,128})\s*<\|tool_call_argument_begin\|>\s*$/);
const mistral = form('arguments', '{', /^\s*(?<name>[\w.:/-]{1,128})\s*(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*$/);
const harmony = form('arguments', '{', /^\s*(?<name>[\w.:/-]{1,128})[^{}]{0,80}<\|message\|>\s*$/);

function marks(forms: readonly Form[], ...pairs: (readonly [open: string, close: string | null])[]): CallMark[] {
  return pairs.map(([open, close]) => ({ kind: 'open', open, close, forms, certain: true }));
}

function invokes(prefix: string, ...sections: readonly string[]): CallMark[] {
  const around = sections.map((section) => [`<${prefix}${section}>`, `</${prefix}${section}>`] as const);
  return [...marks(tagForms, [`<${prefix}invoke name=`, `</${prefix}invoke>`]), ...marks([], ...around)];
}

/** A block with a mark of another format in it, such as `<tool_call>` around `<function=…>`, is read as that format. */
export const formats: readonly Format[] = [
  {
    name: 'Hermes',
    models: 'Hermes, Qwen2.5, Qwen3, Granite 4, and what our own prompt asks for: JSON. GLM-4.5 and later: `<arg_key>`, `<arg_value>`',
    source: 'NousResearch/Hermes-Function-Calling; vllm/hermes, vllm/glm4_moe, vllm/granite4',
    marks: marks([json, glm], ['<tool_call>', '</tool_call>']),
  },
  {
    name: 'Qwen3-Coder',
    models: 'Qwen3-Coder, Seed-OSS, Step 3.5, Nemotron 3: `<parameter=…>`. Llama 3.1 and Functionary: JSON after the name',
    source: 'vllm/qwen3coder, vllm/seed_oss, vllm/step3p5; llama.cpp',
    marks: [
      ...marks(tagForms, ['<function=', '</function>'], ['<function name=', '</function>']),
      ...marks([], ['<seed:tool_call>', '</seed:tool_call>']),
    ],
  },
  {
    name: 'invoke',
    models: 'Claude without native tools, MiniMax M2',
    source: 'Anthropic’s tool use system prompt; vllm/minimax_m2',
    marks: [...invokes('', 'function_calls', 'minimax:tool_call'), ...invokes('antml:', 'function_calls')],
  },
  {
    name: 'DSML',
    models: 'DeepSeek V3.2 and V4',
    source: 'vllm/deepseekv32, vllm/deepseekv4',
    marks: invokes('｜DSML｜', 'function_calls', 'tool_calls'),
  },
  {
    name: 'DeepSeek',
    models: 'DeepSeek V3 and R1: a fence after the name. V3.1: JSON after it',
    source: 'vllm/deepseekv3, vllm/deepseekv31; llama.cpp',
    marks: [
      ...marks([deepSeek31], ['<｜tool▁call▁begin｜>', '<｜tool▁call▁end｜>']),
      ...marks([deepSeek3], ['<｜tool▁call▁begin｜>function<｜tool▁sep｜>', '<｜tool▁call▁end｜>']),
      ...marks([], ['<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>']),
    ],
  },
  {
    name: 'Kimi K2',
    models: 'Kimi K2: `functions.<name>:<index>`',
    source: 'vllm/kimi_k2, also for the singular section',
    marks: [
      ...marks([kimi], ['<|tool_call_begin|>', '<|tool_call_end|>']),
      ...marks([], ['<|tool_calls_section_begin|>', '<|tool_calls_section_end|>']),
      ...marks([], ['<|tool_call_section_begin|>', '<|tool_call_section_end|>']),
    ],
  },
  {
    name: 'Mistral',
    models: 'Mistral before 11: a list. Later: the name, then JSON, with or without `[ARGS]`',
    source: 'vllm/mistral; llama.cpp',
    marks: marks([json, mistral], ['[TOOL_CALLS]', null]),
  },
  {
    name: 'Llama',
    models: 'Llama 3.1 and later, LFM2, OLMo 3: JSON, or calls as Python writes them, with and without a mark',
    source: 'meta-llama prompt formats; vllm/llama, vllm/pythonic, vllm/llama4_pythonic, vllm/lfm2',
    marks: [
      ...marks([json, python], ['<|python_tag|>', '<|eom_id|>'], ['<|python_start|>', '<|python_end|>']),
      ...marks([json], ['<|tool_call_start|>', '<|tool_call_end|>']),
    ],
  },
  {
    name: 'Harmony',
    models: 'gpt-oss',
    source: 'openai/harmony: docs/format.md; vllm/gptoss',
    marks: [
      ...marks(
        [harmony],
        ['<|channel|>commentary to=', '<|call|>'],
        ['<|channel|>analysis to=', '<|call|>'],
        ['<|start|>assistant to=', '<|call|>'],
      ),
      ...marks([], ['<|start|>assistant', null]),
    ],
  },
  {
    name: 'Granite',
    models:
      'Granite 3, Granite 20B FC, Phi-4 mini, MiniMax M1, Jamba, Hunyuan, Nemotron Nano, InternLM, Command R: JSON between other marks',
    source:
      'vllm/granite, vllm/granite_20b_fc, vllm/phi4mini, vllm/minimax, vllm/jamba, vllm/hunyuan_a13b, vllm/nemotron_json, vllm/internlm2, vllm/cohere_command',
    marks: [
      ...marks([json], ['<|tool_call|>', '<|/tool_call|>'], ['<function_call>', '</function_call>'], ['<tool_calls>', '</tool_calls>']),
      ...marks([json], ['<TOOLCALL>', '</TOOLCALL>'], ['<|action_start|><|plugin|>', '<|action_end|>']),
      ...marks([json], ['<|START_ACTION|>', '<|END_ACTION|>']),
    ],
  },
  {
    name: 'Gemma',
    models: 'Gemma and Gemini: Python in a fence',
    source: 'Gemma function calling guide of ai.google.dev',
    marks: marks([json, python], ['```tool_code\n', '```']),
  },
  {
    name: 'wrapped JSON',
    models: 'small models: JSON in a tag that other text has, too',
    source: 'llama.cpp',
    marks: ['tool', 'tools', 'response', 'json', 'xml'].map((word) => uncertain(`<${word}>`, `</${word}>`)),
  },
];

function uncertain(open: string, close: string | null): CallMark {
  return { kind: 'open', open, close, forms: [json], certain: false };
}

/** A JSON object or a list at the start of a line, without any mark. */
export const bareMark = uncertain('', null);

const callMarks = formats.flatMap((format) => format.marks);

/** The line that begins Gemma's fence is read where other fences are. */
export const codeMark = callMarks.find(({ open }) => open.startsWith('`')) ?? bareMark;

const closings = new Set(callMarks.flatMap(({ close }) => close ?? []).filter((close) => close.startsWith('<')));
const others: readonly Mark[] = [
  ...[...closings].map((open): Mark => ({ kind: 'close', open })),
  { kind: 'reasoning', open: '<think>', close: '</think>' },
  { kind: 'reasoning', open: '<thinking>', close: '</thinking>' },
  { kind: 'response', open: '<tool_response>', close: '</tool_response>' },
  { kind: 'frame', open: '</think>' },
];

/** By their first two characters, in lower case; the longest first, since `<|start|>assistant to=` begins with another mark. */
const marksByStart = Map.groupBy(
  [...callMarks, ...others]
    .filter((mark) => mark !== codeMark)
    .map((mark) => ({ mark, open: mark.open.toLowerCase() }))
    .sort((a, b) => b.open.length - a.open.length),
  ({ open }) => open.slice(0, 2),
);
const longestMark = Math.max(...callMarks.flatMap(({ open, close }) => [open.length, close?.length ?? 0]));

export type MarkMatch<Found> = { mark: Found; length: number } | 'partial' | null;

/** Returns the mark at a `<` or `[`, in any case. `partial`: the text ends before it is certain. */
export function matchMark(text: string, at: number): MarkMatch<Mark> {
  if (at + 1 === text.length) return 'partial';
  const possible = marksByStart.get(text.charAt(at) + text.charAt(at + 1).toLowerCase());
  if (possible === undefined) return null;
  const start = text.slice(at, at + longestMark).toLowerCase();
  for (const { mark, open } of possible) {
    if (start.startsWith(open)) return { mark, length: open.length };
    if (open.startsWith(start)) return 'partial';
  }
  return null;
}

/** Returns the length of this mark if it is at that place; `partial`: the text ends before it is certain. */
export function matchText(mark: string, text: string, at: number): number | 'partial' {
  const start = text.slice(at, at + mark.length).toLowerCase();
  if (start === mark.toLowerCase()) return mark.length;
  return at + start.length === text.length && mark.toLowerCase().startsWith(start) ? 'partial' : 0;
}

export type BlockMark = { kind: 'open'; mark: CallMark; length: number } | { kind: 'close'; length: number } | 'partial' | null;

/** Returns the mark at the current place that counts in a block with these closing marks; `onlyCloses`: no others do. */
export function markInBlock({ text, at, over }: TextInput, closes: readonly string[], onlyCloses: boolean): BlockMark {
  const char = text.charAt(at);
  if (char !== '<' && char !== '[' && char !== '`') return null;
  for (const close of closes) {
    const length = matchText(close, text, at);
    if (length === 'partial' && !over) return length;
    if (typeof length === 'number' && length > 0) return { kind: 'close', length };
  }
  const found = char === '`' || onlyCloses ? null : matchMark(text, at);
  if (found === null || found === 'partial') return over ? null : found;
  const { mark, length } = found;
  if (mark.kind === 'open') return mark.certain ? { kind: 'open', mark, length } : null;
  return mark.kind === 'close' ? { kind: 'close', length } : null;
}
