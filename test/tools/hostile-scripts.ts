/** Scripts that would compute as long as they are allowed to. `end`: what the caller is told. */
type HostileScript = { name: string; command: string; end: RegExp };

const commands = /too many commands executed/;
const computed = /^Stopped: it computed for more than 15 s\. Split the work into smaller calls/m;
const limit = (of: string): RegExp => new RegExp(`${of}[^]*Stopped by a limit of the shell`);
const eight = 'echo a b c d e f g h;';

/** These end at a limit within a second or two. */
export const shortScripts: readonly HostileScript[] = [
  { name: 'an endless loop', command: 'while :; do :; done', end: commands },
  { name: 'an endless loop in an endless loop', command: 'while :; do while :; do :; done; done', end: commands },
  { name: 'until', command: 'until false; do true; done', end: commands },
  { name: 'an eval of itself', command: 'x=\'eval "$x"\'; eval "$x"', end: commands },
  {
    name: 'a chain of evals',
    command:
      'a=:; b=\'eval "$a;$a;$a;$a"\'; c=\'eval "$b;$b;$b;$b"\'; d=\'eval "$c;$c;$c;$c"\'; e=\'eval "$d;$d;$d;$d"\'; while :; do eval "$e"; done',
    end: commands,
  },
  {
    name: 'an eval of a text that doubles',
    command: 's=:; for i in $(seq 1 17); do s="$s;$s"; done; eval "$s"',
    end: /Too many tokens: \d+ exceeds limit/,
  },
  { name: 'functions that eval each other', command: 'f() { eval g; }; g() { eval f; }; f', end: limit('recursion depth') },
  { name: 'a function that calls itself', command: 'f() { f; }; f', end: limit('recursion depth') },
  {
    name: 'a function that calls itself twice',
    command: 'f() { [ $1 -gt 0 ] && f $(($1-1)); f $(($1-1)); }; f 20',
    end: limit('recursion depth'),
  },
  {
    name: 'a file that sources itself',
    command: 'echo "source /workspace/s.sh" > s.sh; source /workspace/s.sh',
    end: limit('nesting depth'),
  },
  { name: 'a loop in bash -c', command: 'bash -c "bash -c \\"while :; do :; done\\""', end: commands },
  { name: 'a loop under timeout', command: 'timeout 1000 bash -c "while :; do :; done"', end: commands },
  { name: 'a loop in nested substitutions', command: 'x=$(echo $(echo $(echo $(while :; do :; done))))', end: commands },
  { name: 'substitutions without end', command: 'f() { echo $(f); }; f', end: limit('nesting limit exceeded') },
  { name: 'a loop of here-documents', command: 'while :; do cat <<EOF\nx\nEOF\ndone', end: commands },
  { name: 'braces', command: 'echo {1..100000}{1..100000}', end: limit('work limit exceeded') },
  { name: 'many braces', command: `echo ${'{a,b}'.repeat(21)} | wc -c`, end: limit('work limit exceeded') },
  { name: 'an arithmetic loop', command: 'for ((i=0;;i++)); do ((x+=i)); done', end: commands },
  { name: 'a long arithmetic loop', command: 'for ((i=0;i<1000000000;i++)); do ((x=x*3%1000003)); done', end: commands },
  { name: 'let', command: 'while :; do let x=x+1; done', end: commands },
  { name: 'a text that doubles', command: 'x=a; while :; do x=$x$x; done', end: limit('limit exceeded') },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's.
  { name: 'patterns over a long text', command: 'x=$(printf %400000s); while :; do : ${x##*a}; done', end: limit('work limit exceeded') },
  { name: 'output without end', command: 'while :; do seq 1 100000; done', end: limit('size exceeded') },
];

/** These compute until the limit of a script. */
export const longScripts: readonly HostileScript[] = [
  {
    name: 'evals of a long script that runs nothing',
    command: `s="if false; then $(${'for i in $(seq 1 2000); do echo "'}${eight}"; done) fi"; for i in $(seq 1 9000); do eval "$s"; done`,
    end: computed,
  },
  {
    name: 'long expressions',
    command: 'x=1; s="x=x*3"; for i in $(seq 1 10); do s="$s,$s"; done; for i in $(seq 1 9000); do (($s)); done',
    end: computed,
  },
  { name: 'globs over a long text', command: 'x=$(printf %100000s); while :; do case $x in *a*b*c) ;; esac; done', end: computed },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's.
  { name: 'lengths of a long list', command: 'a=($(seq 1 100000)); while :; do b=${#a[@]}; done', end: computed },
  { name: 'long texts that are printed', command: 'while :; do printf -v x %1000000s; done', end: computed },
];
