/** Splits code into tokens for coloring. Approximate: an unknown construct stays plain text. */

export type CodeLanguage = 'json' | 'shell' | 'javascript' | 'python' | 'text';
export type CodeToken = { kind: 'key' | 'string' | 'number' | 'literal' | 'keyword' | 'comment' | 'plain'; text: string };

/** Longer text is not colored: one element for each token would slow the page down. */
const maxHighlighted = 60_000;

const patterns: Record<Exclude<CodeLanguage, 'text'>, RegExp> = {
  json: /(?<key>"(?:\\.|[^"\\])*"(?=\s*:))|(?<string>"(?:\\.|[^"\\])*")|(?<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<literal>\b(?:true|false|null)\b)/g,
  shell: /(?<string>'[^']*'|"(?:\\.|[^"\\])*")|(?<comment>#.*)|(?<keyword>\bcurl\b)|(?<literal>(?<=\s)--?[a-zA-Z-]+)/g,
  javascript:
    /(?<comment>\/\/.*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\])*")|(?<keyword>\b(?:const|let|await|async|function|return|if|else|for|of|in|while|do|break|continue|switch|case|default|new|typeof|throw|try|catch|finally|import|from)\b)|(?<literal>\b(?:true|false|null|undefined)\b)|(?<number>\b\d+(?:\.\d+)?\b)/g,
  python:
    /(?<comment>#.*)|(?<string>"(?:\\.|[^"\\])*")|(?<keyword>\b(?:import|from|for|in|with|as|print)\b)|(?<literal>\b(?:True|False|None)\b)|(?<number>\b\d+(?:\.\d+)?\b)/g,
};

export function highlight(text: string, language: CodeLanguage): CodeToken[] {
  if (language === 'text' || text.length > maxHighlighted) return [{ kind: 'plain', text }];
  const tokens: CodeToken[] = [];
  let from = 0;
  for (const match of text.matchAll(patterns[language])) {
    if (match.index > from) tokens.push({ kind: 'plain', text: text.slice(from, match.index) });
    const kind = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined)?.[0] ?? 'plain';
    // The groups of the patterns are named after the kinds.
    tokens.push({ kind: kind as CodeToken['kind'], text: match[0] });
    from = match.index + match[0].length;
  }
  if (from < text.length) tokens.push({ kind: 'plain', text: text.slice(from) });
  return tokens;
}
