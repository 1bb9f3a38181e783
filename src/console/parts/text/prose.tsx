/** Text of the OpenAPI document: paragraphs, and code in backticks. All other characters are shown unchanged. */

export function Prose({ text }: { text: string }) {
  const paragraphs = text.split(/\n{2,}/).filter((part) => part.trim() !== '');
  return (
    <div class="prose">
      {paragraphs.map((paragraph, index) => (
        <p key={index}>
          <InlineText text={paragraph} />
        </p>
      ))}
    </div>
  );
}

/** One line: code in backticks, without a paragraph around it. */
export function InlineText({ text }: { text: string }) {
  // The odd parts are those between backticks.
  return <>{text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
