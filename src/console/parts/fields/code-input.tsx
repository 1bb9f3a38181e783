/**
 * A box for JSON or JavaScript: a text area until the code editor has been loaded, which begins when the box is first seen, and also if it
 * cannot be loaded.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Editor } from '../../editor/open-editor.ts';

type CodeInputProps = {
  /** That of the `label` element. */
  id: string;
  label: string;
  language: 'json' | 'javascript';
  value: string;
  onInput(value: string): void;
  rows: number;
  issues?: readonly { path: string; message: string }[];
  'aria-invalid'?: boolean;
  'aria-describedby'?: string | undefined;
};

/** Of a line and of the padding and borders, in pixels: the editor has the height of the text area. */
const lineHeight = 20.15;
const frameHeight = 12;

export function CodeInput(props: CodeInputProps) {
  const { id, label, language, value, onInput, rows, issues = [], ...described } = props;
  const { 'aria-invalid': isInvalid = false, 'aria-describedby': descriptions = '' } = described;
  const area = useRef<HTMLTextAreaElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const isComposing = useRef(false);
  const newest = useRef(onInput);
  newest.current = onInput;

  useEffect(() => {
    let opened: Editor | null = null;
    const end = new AbortController();
    const load = async (): Promise<void> => {
      const { openEditor } = await import('../../editor/open-editor.ts');
      if (area.current === null || host.current === null) return;
      opened = await openEditor(area.current, host.current, {
        language,
        label,
        isComposing: () => isComposing.current,
        onInput: (text) => newest.current(text),
        signal: end.signal,
      });
      setEditor(opened);
    };
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      seen.disconnect();
      // Without the editor, the text area stays.
      load().catch(() => undefined);
    });
    if (area.current !== null) seen.observe(area.current);
    return () => {
      seen.disconnect();
      end.abort();
      opened?.destroy();
    };
  }, []);
  // Before the next key is handled: an older value must not replace what is typed meanwhile.
  useLayoutEffect(() => editor?.set(value), [editor, value]);
  useEffect(
    () => editor?.describe({ label, isInvalid, describedBy: descriptions, issues }),
    [editor, label, isInvalid, descriptions, JSON.stringify(issues)],
  );

  return (
    <>
      {editor === null && (
        <textarea
          ref={area}
          id={id}
          class="code"
          {...described}
          rows={rows}
          spellcheck={false}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onCompositionStart={() => (isComposing.current = true)}
          onCompositionEnd={() => (isComposing.current = false)}
        />
      )}
      <div
        ref={host}
        class={isInvalid ? 'code-editor invalid' : 'code-editor'}
        hidden={editor === null}
        style={{ height: `${rows * lineHeight + frameHeight}px` }}
      />
    </>
  );
}
