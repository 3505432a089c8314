// A two-agent shop assistant in Node.js, without dependencies, that cotune can improve.
//
//   OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_API_KEY=… MODEL=gpt-4.1-mini node server.mjs
//
// It speaks OpenAI chat completions. What cotune adds comes and goes in the field `cotune`.
import { createServer } from "node:http";

const BASE = process.env.OPENAI_BASE_URL ?? "https://api.openai.com/v1";
const MODEL = process.env.MODEL ?? "gpt-4.1-mini";
const PRODUCTS = [
  { id: "p1", name: "oat milk", price: 1.95 },
  { id: "p2", name: "rye bread", price: 3.4 },
];

// What the agents are told in production; cotune starts from these.
const PROMPTS = {
  concierge: "Answer with the name of the product that the customer wants, and nothing else.",
  search: "Tell the customer which of the products found fits best.",
};

class BadRequest extends Error {}
class ModelFailed extends Error {
  constructor(status, said) {
    super(said);
    this.status = status === 429 ? 429 : 502;
  }
}

/** Everything that belongs to one turn; nothing is kept between requests. */
class Turn {
  constructor({ prompts, state, seed }) {
    Object.assign(this, { prompts, state, seed, calls: [], usage: [] });
  }

  async ask(agent, message) {
    const prompt = this.prompts[agent];
    if (typeof prompt !== "string") throw new BadRequest(`cotune.prompts has no '${agent}'`);
    const messages = [{ role: "system", content: prompt }, { role: "user", content: message }];
    const response = await fetch(`${BASE}/chat/completions`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${process.env.OPENAI_API_KEY ?? "none"}`,
      },
      body: JSON.stringify({ model: MODEL, messages, seed: this.seed }),
    });
    if (!response.ok) throw new ModelFailed(response.status, await response.text());
    const { choices, usage } = await response.json();
    const answer = choices[0].message.content;
    this.calls.push({ agent, inputs: { message }, outputs: { answer } });
    this.usage.push({
      agent,
      model: MODEL,
      input_tokens: usage.prompt_tokens,
      output_tokens: usage.completion_tokens,
    });
    return answer;
  }

  findProducts(query, agent) {
    const result = PRODUCTS.filter(({ name }) => query.toLowerCase().includes(name));
    this.calls.push({ tool: "find_products", agent, arguments: { query }, result });
    return result;
  }

  async reply(message) {
    const wish = await this.ask("concierge", message);
    const found = this.findProducts(wish, "search");
    this.state.shown = found;
    return this.ask("search", `${message}\n\nFound: ${JSON.stringify(found)}`);
  }
}

async function complete({ model, messages, cotune }) {
  if (!Array.isArray(messages)) throw new BadRequest("messages must be a list");
  const turn = new Turn(cotune ?? { prompts: PROMPTS, state: {}, seed: 0 });
  const content = await turn.reply(messages.at(-1).content);
  const { calls, state, usage } = turn;
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    ...(cotune && { cotune: { calls, state, usage } }),
  };
}

async function answer(request) {
  if (request.method === "GET" && request.url === "/v1/cotune") {
    return { version: 1, revision: process.env.REVISION ?? "", prompts: PROMPTS };
  }
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
    throw new BadRequest(`there is no ${request.method} ${request.url}`);
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return complete(JSON.parse(Buffer.concat(chunks).toString("utf8")));
}

const server = createServer(async (request, response) => {
  let status = 200;
  let body;
  try {
    body = await answer(request);
  } catch (error) {
    const isBad = error instanceof BadRequest || error instanceof SyntaxError;
    status = isBad ? 400 : (error.status ?? 500);
    body = { error: { message: error.message } };
  }
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
});

server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/v1`);
});
