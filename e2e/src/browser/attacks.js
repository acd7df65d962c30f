/**
 * Runs in the page of somebody else's site, which knows far more than it could: the address, the
 * workflow, the ids. Each function answers with what it could read.
 */
globalThis.attacks = {
  "reads with fetch": async ({ url, ended }) => {
    const read = await Promise.allSettled(
      ["/workflows", "/executions", `/executions/${ended}`, "/workers", "/openapi.json"].map(
        async (path) => (await fetch(url + path)).text(),
      ),
    );
    return read.map((one) => (one.status === "fulfilled" ? one.value : ""));
  },
  "reads without CORS": async ({ url, ended }) => {
    const answer = await fetch(`${url}/executions/${ended}`, { mode: "no-cors" });
    return [await answer.text()];
  },
  "runs and registers with fetch, as JSON": async ({ url, workflow, running }) => {
    const json = { "content-type": "application/json" };
    const all = await Promise.allSettled(
      [
        [`/${workflow}`, '"attack"'],
        ["/workflows", JSON.stringify(registration())],
        [`/workflows/default/${workflow}/cancel/${running}`, "{}"],
        [`/executions/${running}/signal`, "{}"],
      ].map(async ([path, body]) => {
        const answer = await fetch(`${url}${path}`, {
          method: "POST",
          headers: json,
          body: body ?? "",
        });
        return answer.text();
      }),
    );
    return all.map((one) => (one.status === "fulfilled" ? one.value : ""));

    function registration() {
      return { files: [{ path: "evil.ts", content: "evil" }] };
    }
  },
  "posts without CORS, in every type that needs no question": async ({
    url,
    workflow,
    running,
  }) => {
    const bodies = [
      new Blob(['"attack"']),
      new Blob(['"attack"'], { type: "text/plain" }),
      new Blob(['"attack"'], { type: "application/x-www-form-urlencoded" }),
      new URLSearchParams("attack"),
      new FormData(),
      new TextEncoder().encode('"attack"'),
      null,
    ];
    const paths = [
      `/${workflow}`,
      "/workflows",
      `/workflows/default/${workflow}/cancel/${running}`,
    ];
    for (const path of paths) {
      for (const body of bodies) {
        await fetch(url + path, { method: "POST", mode: "no-cors", body }).catch(() => {});
      }
      navigator.sendBeacon(url + path, new Blob(['"attack"'], { type: "text/plain" }));
      navigator.sendBeacon(url + path, new URLSearchParams("attack"));
    }
    return [];
  },
  "sends forms": async ({ url, workflow, running }) => {
    const types = ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"];
    const paths = [
      `/${workflow}`,
      "/workflows",
      `/workflows/default/${workflow}/cancel/${running}`,
    ];
    for (const path of paths) {
      for (const type of types) {
        const frame = document.body.appendChild(document.createElement("iframe"));
        frame.name = `f${Math.random()}`;
        const form = document.body.appendChild(document.createElement("form"));
        Object.assign(form, {
          action: url + path,
          method: "POST",
          enctype: type,
          target: frame.name,
        });
        const field = form.appendChild(document.createElement("input"));
        // As text this is {"a":"=b"}: JSON, made by a form.
        Object.assign(field, { name: '{"a":"', value: 'b"}' });
        const loaded = new Promise((resolve) => {
          frame.onload = resolve;
          setTimeout(resolve, 1_000);
        });
        form.submit();
        await loaded;
      }
    }
    return [];
  },
  "follows with EventSource": async ({ url, running }) => {
    const source = new EventSource(`${url}/executions/${running}?mode=stream`);
    const got = await new Promise((resolve) => {
      const tell = (event) => resolve(String(event.data ?? ""));
      source.onopen = () => resolve("opened");
      source.onmessage = tell;
      source.onerror = () => resolve("");
    });
    source.close();
    return [got];
  },
  "loads images, scripts, styles and frames": async ({ url, workflow, running, ended }) => {
    const cancel = `${url}/workflows/default/${workflow}/cancel/${running}`;
    const read = [];
    const load = async (tag, attribute, address) => {
      const element = document.createElement(tag);
      const over = new Promise((resolve) => {
        element.onload = resolve;
        element.onerror = resolve;
        setTimeout(resolve, 1_000);
      });
      element.setAttribute("rel", "stylesheet");
      element.setAttribute(attribute, address);
      document.body.appendChild(element);
      await over;
      if (!(element instanceof HTMLIFrameElement)) return;
      try {
        read.push(element.contentDocument?.body.textContent ?? "");
      } catch {
        read.push("");
      }
    };
    await load("img", "src", cancel);
    await load("script", "src", cancel);
    await load("link", "href", cancel);
    await load("iframe", "src", cancel);
    await load("iframe", "src", `${url}/executions/${ended}`);
    await load("object", "data", cancel);
    return read;
  },
  "asks from a frame without an origin": async ({ url, workflow, running }) => {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    const paths = [`/${workflow}`, `/workflows/default/${workflow}/cancel/${running}`];
    frame.srcdoc = `<script>
      const all = ${JSON.stringify(paths)}.map((path) =>
        fetch(${JSON.stringify(url)} + path, { method: "POST", mode: "no-cors", body: '"attack"' })
          .then((answer) => answer.text()).catch(() => ""));
      Promise.all(all).then((read) => parent.postMessage(read, "*"));
    </script>`;
    const heard = new Promise((resolve) => {
      addEventListener("message", ({ data }) => resolve(data), { once: true });
      setTimeout(() => resolve([]), 3_000);
    });
    document.body.appendChild(frame);
    return heard;
  },
  "follows a link": async ({ url }) => {
    const link = document.body.appendChild(document.createElement("a"));
    link.href = url;
    // Behind the answer, which the way to the link would take along.
    setTimeout(() => link.click());
    return [];
  },
};
