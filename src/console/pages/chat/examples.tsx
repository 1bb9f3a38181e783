/** What an empty chat offers: three messages for the demo agent, whose model is built in and needs no key. */

const examples: readonly { title: string; text: string; what: string }[] = [
  {
    title: 'Run a command',
    text: '/shell echo hello > note.txt && ls -l',
    what: 'See which tool the name “shell” is, and the file that it writes.',
  },
  { title: 'Two tools at once', text: '/shell date\n/ls path=/workspace', what: 'Both calls run in the same step.' },
  {
    title: 'Something that asks first',
    text: '/shell echo draft > old.txt\n\n/shell rm old.txt',
    what: 'Deleting a file waits until you approve it.',
  },
];

export function Examples({ onPick }: { onPick(text: string): void }) {
  return (
    <div class="examples">
      <h2>Talk to an agent that has tools</h2>
      <p class="muted">
        The demo agent uses the rehearsal model, a stand-in that works offline. It turns a line such as <code>/shell date</code> into a
        call.
      </p>
      <div class="cards">
        {examples.map(({ title, text, what }) => (
          <button key={title} type="button" onClick={() => onPick(text)}>
            <strong>{title}</strong>
            <code>{text.replaceAll(/\n+/g, ' ⏎ ')}</code>
            <span class="muted">{what}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
