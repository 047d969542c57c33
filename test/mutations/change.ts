import { parseAst } from "rolldown/parseAst";
import { type ESTree, Visitor } from "rolldown/utils";

/** An edit that is found by the structure of the code, so that rewording the code leaves it valid. */
export type Change =
  /** The function returns this expression at once; a constant has it as its value. */
  | { readonly returns: string }
  /** Calls of this function or method, within the function, give `undefined` instead. */
  | { readonly without: string }
  /** The n-th condition (of `if`, `?:` or a loop) is negated. */
  | { readonly negates: number }
  /** The n-th comparison is turned into its opposite: `<` into `>=`, `===` into `!==`. */
  | { readonly inverts: number };

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Edit extends Span {
  readonly text: string;
}

const opposites: Readonly<Record<string, string>> = {
  ...{ "===": "!==", "!==": "===", "<": ">=", ">=": "<", ">": "<=", "<=": ">" },
};

/** The source with the change made in what has this name: a top-level function or constant, or a method. */
export function changed(source: string, name: string, change: Change): string {
  const program = parsed(source);
  const bodies = bodiesOf(program).filter(body => body.name === name);
  if (bodies.length !== 1) throw new Error(`expected one function named ${name}, got ${bodies.length}`);
  const edits = editsOf(program, source, bodies[0]!, change);
  if (edits.length === 0) throw new Error(`expected ${JSON.stringify(change)} to find something in ${name}`);
  return edits.reduceRight((text, { start, end, text: by }) => text.slice(0, start) + by + text.slice(end), source);
}

export const parsed = (source: string) => parseAst(source, { lang: "ts" });

type Program = ReturnType<typeof parsed>;

interface Body extends Span {
  readonly name: string | undefined;
  readonly isBlock: boolean;
}

/** What has a name that mutants use: its block of statements, or its expression. */
function bodiesOf(program: Program): Body[] {
  const bodies: Body[] = [];
  const add = (name: string | undefined, body: (Span & { readonly type: string }) | null) => {
    if (body !== null) bodies.push({ name, start: body.start, end: body.end, isBlock: body.type === "BlockStatement" });
  };
  for (const statement of program.body) {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type === "FunctionDeclaration" && declared.id !== null) add(declared.id.name, declared.body);
    if (declared?.type === "VariableDeclaration")
      for (const { id, init } of declared.declarations)
        if (id.type === "Identifier") add(id.name, init?.type === "ArrowFunctionExpression" ? init.body : init);
    if (declared?.type === "ClassDeclaration")
      for (const member of declared.body.body)
        if (member.type === "MethodDefinition") add(nameOf(member.key), member.value.body);
  }
  return bodies;
}

/** The name of what is called or declared: `close` of `this.#file.close`, `#take` of `this.#take`. */
function nameOf(node: ESTree.Expression | ESTree.PropertyKey): string | undefined {
  if (node.type === "MemberExpression") return nameOf(node.property);
  if (node.type === "PrivateIdentifier") return `#${node.name}`;
  return node.type === "Identifier" ? node.name : undefined;
}

function editsOf(program: Program, source: string, body: Body, change: Change): Edit[] {
  if ("returns" in change) {
    const { returns } = change;
    return [{ ...body, text: body.isBlock ? `{ return ${returns}; }` : `(${returns})` }];
  }
  const isWithin = ({ start, end }: Span) => start >= body.start && end <= body.end;
  const found: Edit[] = [];
  const add = ({ start, end }: Span, text: string) => {
    if (isWithin({ start, end })) found.push({ start, end, text });
  };
  const condition = ({ test }: { readonly test: Span | null }) => {
    if (test !== null) add(test, `!(${source.slice(test.start, test.end)})`);
  };
  const visitor =
    "without" in change
      ? new Visitor({
          CallExpression: call => {
            if (nameOf(call.callee) === change.without) add(call, "undefined");
          },
        })
      : "negates" in change
        ? new Visitor({
            IfStatement: condition,
            ConditionalExpression: condition,
            WhileStatement: condition,
            DoWhileStatement: condition,
            ForStatement: condition,
          })
        : new Visitor({
            BinaryExpression: ({ left, operator, right }) => {
              const opposite = opposites[operator];
              const between = { start: left.end, end: right.start };
              if (opposite !== undefined)
                add(between, source.slice(between.start, between.end).replace(operator, opposite));
            },
          });
  visitor.visit(program);
  found.sort((a, b) => a.start - b.start);
  const isInner = ({ start, end }: Edit) => found.some(outer => outer.start <= start && outer.end > end);
  if ("without" in change) return found.filter(edit => !isInner(edit));
  const nth = "negates" in change ? change.negates : change.inverts;
  return found.slice(nth - 1, nth);
}
