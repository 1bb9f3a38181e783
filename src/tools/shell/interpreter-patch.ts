/**
 * Changes to the pinned just-bash: hooks for every pattern that it compiles and matches, and yield points in its long loops.
 * `src/local/build/patch-just-bash.ts` applies them before each build and test; `interpreter-hooks.ts` receives the calls. The published
 * bundle is minified, so each change is an exact string and its replacement: a diff would contain the whole bundle.
 * To update just-bash, set `version` and `sha256`, format the new bundle to read it, and correct each `find` that the installer reports.
 */
/** `times`: how often `find` occurs. Default: once. */
export type Edit = { what: string; find: string; times?: number; replace: string };

export const interpreterPatch = {
  package: 'just-bash',
  version: '3.4.2',
  file: 'dist/bundle/browser.js',
  /** Checksum of the published file. */
  sha256: '6390563a926e5018d5bc2e8b824ae1b13b87bdd3ed31857bacef31b3c100f224',
  edits: [
    {
      what: 'RE2JS.compile: compiles every pattern of every command',
      find: 'static compile(t,n=0){let r=t;',
      replace: 'static compile(t,n=0){return $hooks.compile(t,n,()=>e.compileNow(t,n))}static compileNow(t,n=0){let r=t;',
    },
    {
      what: 'Machine.match: one search of a text',
      find: 'match(t,n,r){let s=this.re2.cond;',
      replace: 'match(t,n,r){return $hooks.match($step=>this.matchNow(t,n,r,$step))}matchNow(t,n,r,$step){let s=this.re2.cond;',
    },
    {
      what: 'Machine.match: each character of the text',
      find: 'if(d=t.context(p),this.step(i,o,n,p,l,d,r,n===t.endPos()),',
      replace: 'if(d=t.context(p),$step(i.size,this.ncap),this.step(i,o,n,p,l,d,r,n===t.endPos()),',
    },
    {
      what: 'sed: make the program asynchronous, so that it can yield between commands',
      find: 'function mu(e,t,n,r){let s=new Map;',
      replace: 'async function mu(e,t,n,r){let s=new Map;',
    },
    {
      what: 'sed: before each command; y and l process each character, and matching is counted separately',
      find: 'if(o++,o>i)throw new C(`sed: command execution',
      replace:
        'if($hooks.isDue(64+t.patternSpace.length/(/^(trans|list)/.test(e[a].type)?2:4096)))await $hooks.pass();if(o++,o>i)throw new C(`sed: command execution',
    },
    {
      what: 'sed: a group of commands',
      find: 't.coverage?.hit("sed:cmd:group"),mu(c.commands,t,n,r),',
      replace: 't.coverage?.hit("sed:cmd:group"),await mu(c.commands,t,n,r),',
    },
    {
      what: 'sed: the program over one line',
      find: 'I.pendingFileWrites=[],mu(t,I,T,R),o&&a)',
      replace: 'I.pendingFileWrites=[],await mu(t,I,T,R),o&&a)',
    },
    {
      what: 'sed: bound the output of a line before it is joined, since a loop of its program now yields',
      find: 't.lineNumberOutput.push(',
      times: 7,
      replace: '$hold(t,n,t.lineNumberOutput,',
    },
    {
      what: 'sed: the same for n',
      find: 't.nCommandOutput.push(',
      replace: '$hold(t,r,t.nCommandOutput,',
    },
    {
      what: 'sed: the same for w and W',
      find: 't.pendingFileWrites.push(',
      times: 2,
      replace: '$hold(t,n,t.pendingFileWrites,',
    },
    {
      what: 'sed: the same for r',
      find: 'I.appendBuffer.push(V.replace(/\\n$/,""))',
      replace: '$hold(I,R,I.appendBuffer,V)',
    },
    {
      what: 'sed: count these bytes',
      find: 'function sm(e,t,n){',
      replace:
        'function $hold(e,t,n,r){e.$held=(e.$held??0)+(r.content??r).length,sm({length:e.$held},t?.maxStringLength??0,"output of one line"),n.push(r)}function sm(e,t,n){',
    },
    {
      what: 'sed: limit a written file to the size of an output',
      find: 'O.set(X,V+D.content)',
      replace: 'sm({length:V.length+D.content.length},s?.maxOutputSize??0,"file"),O.set(X,V+D.content)',
    },
    {
      what: 'grep and rg: make the search asynchronous, so that it can yield between lines',
      find: 'function Es(e,t,n={}){',
      replace: 'async function Es(e,t,n={}){',
    },
    { what: 'grep: search of stdin', find: 'fe=Es(se,U,', replace: 'fe=await Es(se,U,' },
    { what: 'grep: search of a file', find: 'Or=Es(pe,U,', replace: 'Or=await Es(pe,U,' },
    { what: 'rg: search of stdin', find: 'x=Es(f,l,', replace: 'x=await Es(f,l,' },
    { what: 'rg: search of a file', find: 'N=Es(E,n,', replace: 'N=await Es(E,n,' },
    {
      what: 'grep and rg: each line that is counted',
      find: 'for(let ee=0;ee<M;ee++){R();let ne=T[ee];if(',
      replace: 'for(let ee=0;ee<M;ee++){R();if($hooks.isDue(64))await $hooks.pass();let ne=T[ee];if(',
    },
    {
      what: 'grep and rg: each line that is printed',
      find: 'for(let ne=0;ne<M&&(R(),!(f>0&&V>=f));ne++){',
      replace: 'for(let ne=0;ne<M&&(R(),!(f>0&&V>=f));ne++){if($hooks.isDue(64))await $hooks.pass();',
    },
    {
      what: 'rg: each line with --passthru',
      find: 'for(let ee=0;ee<M;ee++){R();let ne=T[ee],Ce;',
      replace: 'for(let ee=0;ee<M;ee++){R();if($hooks.isDue(64))await $hooks.pass();let ne=T[ee],Ce;',
    },
    {
      what: 'grep and rg: each line with context',
      find: 'for(let D=0;D<M&&(R(),!(f>0&&U>=f));D++){',
      replace: 'for(let D=0;D<M&&(R(),!(f>0&&U>=f));D++){if($hooks.isDue(64))await $hooks.pass();',
    },
    {
      what: 'awk: before each record, which is split into fields',
      find: 'async executeLine(t){if(',
      replace: 'async executeLine(t){if($hooks.isDue(64+t.length/16))await $hooks.pass();if(',
    },
    {
      what: 'awk: before each rule, since its pattern may not be an expression',
      find: 'async matchesRule(t,n){',
      replace: 'async matchesRule(t,n){if($hooks.isDue(64))await $hooks.pass();',
    },
    {
      what: 'awk: before each expression',
      find: 'async function Ae(e,t){switch(',
      replace: 'async function Ae(e,t){if($hooks.isDue(64))await $hooks.pass();switch(',
    },
    {
      what: 'awk: read of a variable, whose value may be copied',
      find: 'case"variable":return Ta(e,t.name);case"array_access"',
      replace:
        'case"variable":{let $value=Ta(e,t.name);if($hooks.isDue(($value.length??0)/256))await $hooks.pass();return $value}case"array_access"',
    },
    {
      what: 'awk: before each statement',
      find: 'async function ks(e,t){switch(',
      replace: 'async function ks(e,t){if($hooks.isDue(64))await $hooks.pass();switch(',
    },
    {
      what: 'jq: before each document',
      find: 'let F=So(B,y);for(let z of F)O(E,te(z,S,A))}',
      replace: 'let F=So(B,y);for(let z of F){if($hooks.isDue(1024))await $hooks.pass();O(E,te(z,S,A))}}',
    },
    {
      what: 'jq -R: before each line',
      find: 'for(;D!==-1;)O(E,te(F.slice(z,D),S,A)),',
      replace: 'for(;D!==-1;)$hooks.isDue(256)&&await $hooks.pass(),O(E,te(F.slice(z,D),S,A)),',
    },
    {
      what: 'sort: yield between parts of the data',
      find: 'o.sort(a),n.unique&&(o=Jm(o,n));',
      replace: 'o=await $hooks.sort(o,a),n.unique&&(o=Jm(o,n));',
    },
    {
      what: 'the shell: before each statement, in any loop, function, eval or sourced file',
      find: 'async executeStatement(t){if(',
      replace: 'async executeStatement(t){if($hooks.isDue(8192))await $hooks.pass();if(',
    },
    {
      what: 'the shell: each arithmetic operation',
      find: 'async function Mi(e,t,n,r){',
      replace: 'async function Mi(e,t,n,r){if($hooks.isDue(512))await $hooks.pass();',
    },
    {
      what: 'the shell: each parsed script, also of eval and source',
      find: 'this._input=t,this.processLineState=void 0;let s=new Al(t,n);',
      replace: 'this._input=t,this.processLineState=void 0,$hooks.isDue(t.length*8);let s=new Al(t,n);',
    },
    {
      what: 'export the hooks',
      find: 'export{Hp as Bash,',
      replace: 'var $hooks;function $setHooks(e){$hooks=e}export{$setHooks as setInterpreterHooks,Hp as Bash,',
    },
  ] as readonly Edit[],
};
