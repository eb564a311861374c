"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  theme();
  sorting();
  tips();
  if (byId("items")) items();

  function theme() {
    const button = byId("theme");
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const current = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    const show = () => {
      button.textContent = current() === "dark" ? "Light theme" : "Dark theme";
    };
    button.addEventListener("click", () => {
      document.documentElement.dataset.theme = current() === "dark" ? "light" : "dark";
      show();
    });
    dark.addEventListener("change", show);
    button.hidden = false;
    show();
  }

  function sorting() {
    for (const table of document.querySelectorAll("table")) {
      const headings = [...table.tHead.rows[0].cells];
      headings.forEach((heading, column) => {
        heading.querySelector("button").addEventListener("click", () => sort(table, headings, column));
      });
    }
  }

  // Figures come best first at the first click, names in their order; what has no value stays at the end.
  function sort(table, headings, column) {
    const heading = headings[column];
    const before = heading.getAttribute("aria-sort");
    const first = heading.classList.contains("numeric") ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const order = before === first ? second : first;
    const sign = order === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => {
      const cell = row.cells[column];
      return { row, number: cell.dataset.value === "" ? NaN : Number(cell.dataset.value), text: cell.textContent.trim() };
    });
    const empty = (one) => Number.isNaN(one.number) && (one.text === "" || one.text.startsWith("–"));
    keyed.sort((a, b) => {
      if (empty(a) || empty(b)) return empty(a) - empty(b);
      const numbers = Number.isNaN(a.number) - Number.isNaN(b.number);
      if (numbers) return numbers;
      return sign * (Number.isNaN(a.number) ? collator.compare(a.text, b.text) : a.number - b.number);
    });
    body.append(...keyed.map((one) => one.row));
    for (const other of headings) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    byId("status").textContent = `${table.caption.textContent}: sorted by ${heading.textContent}, ${order}`;
  }

  // One tooltip for marks and for what charts show: pointing at, touching and reaching by keyboard shows it, Escape
  // hides it.
  function tips() {
    const tip = byId("tip");
    let owner = null;
    const linesOf = (node) =>
      node.dataset.tip !== undefined
        ? node.dataset.tip.split("\n")
        : node.getAttribute("aria-describedby").split(" ").map((id) => byId(id).textContent);
    const ownerOf = (event) => (event.target instanceof Element ? event.target.closest("button.mark, [data-tip]") : null);
    const hide = () => {
      tip.hidden = true;
      owner = null;
    };
    const show = (node) => {
      owner = node;
      tip.replaceChildren(...linesOf(node).map((line) => make("p", "", line)));
      tip.hidden = false;
      place();
    };
    const place = () => {
      if (!owner) return;
      const at = owner.getBoundingClientRect();
      if (at.bottom < 0 || at.top > innerHeight) return hide();
      const left = Math.min(at.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
      const below = at.bottom + 6;
      const above = at.top - tip.offsetHeight - 6;
      tip.style.left = `${Math.max(8, left)}px`;
      tip.style.top = `${below + tip.offsetHeight > innerHeight && above > 0 ? above : below}px`;
    };
    for (const name of ["pointerover", "focusin", "click"]) {
      document.addEventListener(name, (event) => {
        const node = ownerOf(event);
        if (node) show(node);
        else if (name !== "pointerover") hide();
      });
    }
    document.addEventListener("pointerout", (event) => {
      if (event.pointerType === "mouse" && ownerOf(event) === owner && owner !== document.activeElement) hide();
    });
    document.addEventListener("focusout", hide);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
    });
    addEventListener("scroll", place, { passive: true, capture: true });
  }

  function items() {
    const PER_PAGE = 50;
    const [MODEL, TASK, KEY, RIGHT, IMAGE, TAGS, TEXTS] = [0, 1, 2, 3, 4, 5, 6];
    const VERDICTS = [
      { value: false, mark: "✗", name: "wrong" },
      { value: true, mark: "✓", name: "right" },
      { value: null, mark: "?", name: "cannot be said" },
    ];
    const index = JSON.parse(byId("item-index").textContent);
    const tagNames = Object.keys(index.tags);
    const blocks = new Map();
    const search = byId("search");
    const list = byId("list");
    const detail = byId("detail");
    const verdict = (row) => VERDICTS.find((one) => one.value === row[RIGHT]);
    let found = [];
    let chosen = -1;

    const task = filter("Task", index.tasks, (row) => row[TASK]);
    const tags = tagNames.map((name, place) => filter(name, index.tags[name], (row) => row[TAGS][place]));
    const filters = [
      filter("Model", index.models, (row) => row[MODEL]),
      task,
      filter("Verdict", VERDICTS.map((one) => one.name), (row) => VERDICTS.indexOf(verdict(row))),
      ...tags,
    ];
    for (const one of filters) byId("filters").insertBefore(one.label, search.parentElement);
    task.select.addEventListener("change", hideForeignTags);
    for (const one of filters) one.select.addEventListener("change", refresh);
    search.addEventListener("input", debounced(refresh, 150));
    byId("clear").addEventListener("click", () => {
      search.value = "";
      for (const one of filters) one.select.value = "";
      hideForeignTags();
      refresh();
    });
    byId("previous").addEventListener("click", () => choose((page() - 1) * PER_PAGE));
    byId("next").addEventListener("click", () => choose((page() + 1) * PER_PAGE));
    list.addEventListener("click", (event) => {
      const option = event.target.closest("li");
      if (option) choose(Number(option.dataset.place));
    });
    list.addEventListener("keydown", (event) => {
      const to = {
        ArrowDown: chosen + 1,
        ArrowUp: chosen - 1,
        PageDown: chosen + PER_PAGE,
        PageUp: chosen - PER_PAGE,
        Home: 0,
        End: found.length - 1,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(to);
    });
    refresh();

    function filter(name, values, of) {
      const label = make("label", "", `${name} `);
      const select = make("select");
      const order = values.map((value, place) => ({ value, place })).sort((a, b) => collator.compare(a.value, b.value));
      select.append(new Option("all", ""), ...order.map(({ value, place }) => new Option(shortened(value, 80), place)));
      label.append(select);
      return { label, select, of };
    }

    // A task is not filtered by what only other tasks' items have.
    function hideForeignTags() {
      const rows = index.rows.filter((row) => task.select.value === "" || row[TASK] === Number(task.select.value));
      for (const tag of tags) {
        tag.label.hidden = !rows.some((row) => tag.of(row) >= 0);
        if (tag.label.hidden) tag.select.value = "";
      }
    }

    function refresh() {
      const active = filters.filter((one) => one.select.value !== "").map((one) => [one.of, Number(one.select.value)]);
      const text = search.value.trim().toLowerCase();
      const hits = text ? textsWith(text) : null;
      const matches = (row) =>
        active.every(([of, value]) => of(row) === value) &&
        (!hits || row[KEY].toLowerCase().includes(text) || row[TEXTS].some((number) => hits.has(number)));
      found = index.rows.filter(matches);
      byId("found").textContent = `${found.length.toLocaleString("en")} of ${index.rows.length.toLocaleString("en")} items`;
      chosen = -1;
      choose(0);
    }

    function page() {
      return Math.floor(Math.max(0, chosen) / PER_PAGE);
    }

    function choose(place) {
      const shown = chosen < 0 ? -1 : page();
      chosen = Math.max(0, Math.min(place, found.length - 1));
      if (page() !== shown) showPage();
      for (const option of list.children) {
        const isChosen = Number(option.dataset.place) === chosen;
        option.setAttribute("aria-selected", String(isChosen));
        if (isChosen) {
          list.setAttribute("aria-activedescendant", option.id);
          list.scrollTop = Math.min(option.offsetTop, Math.max(list.scrollTop, option.offsetTop + option.offsetHeight - list.clientHeight));
        }
      }
      showDetail();
    }

    function showPage() {
      const start = page() * PER_PAGE;
      const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
      list.removeAttribute("aria-activedescendant");
      list.replaceChildren(...found.slice(start, start + PER_PAGE).map((row, place) => option(row, start + place)));
      list.scrollTop = 0;
      byId("page").textContent = `${(page() + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
      byId("previous").disabled = page() === 0;
      byId("next").disabled = page() >= pages - 1;
    }

    function option(row, place) {
      const node = make("li");
      node.id = `item-${place}`;
      node.dataset.place = place;
      node.setAttribute("role", "option");
      node.append(verdictMark(row), make("span", "key", shortened(row[KEY], 120)));
      node.append(make("span", "of", shortened(`${index.models[row[MODEL]]} · ${index.tasks[row[TASK]]}`, 160)));
      return node;
    }

    function verdictMark(row) {
      const { mark, name } = verdict(row);
      const node = make("span", `verdict ${name.split(" ")[0]}`);
      node.append(make("span", "", mark), make("span", "sr", ` ${name}; `));
      node.firstChild.setAttribute("aria-hidden", "true");
      return node;
    }

    function showDetail() {
      const row = found[chosen];
      detail.scrollTop = 0;
      if (!row) {
        detail.replaceChildren(make("p", "", "No item fits the filters."));
        return;
      }
      const heading = make("h3");
      heading.append(verdictMark(row), row[KEY]);
      const facts = make("dl", "facts");
      const fact = (name, value) => {
        const pair = make("div");
        pair.append(make("dt", "", name), make("dd", "", value));
        facts.append(pair);
      };
      fact("Model", index.models[row[MODEL]]);
      fact("Task", index.tasks[row[TASK]]);
      fact("Verdict", verdict(row).name);
      tagNames.forEach((name, place) => {
        if (row[TAGS][place] >= 0) fact(name, index.tags[name][row[TAGS][place]]);
      });
      const [instruction, reply, ...details] = row[TEXTS].map(textOf);
      const parts = [heading, facts, ...picture(row[IMAGE]), ...block("Instruction", instruction), ...block("Reply", reply)];
      for (let place = 0; place < details.length; place += 2) parts.push(...block(details[place], details[place + 1]));
      detail.replaceChildren(...parts);
    }

    function block(name, text) {
      return [make("h4", "", name), text ? make("pre", "", text) : make("p", "nothing", "nothing")];
    }

    function picture(number) {
      if (number < 0) return [];
      const { path, uri } = index.images[number];
      const embedded = byId(`item-picture-${number}`);
      const source = embedded ? embedded.textContent : uri;
      const caption = make("p", "path");
      if (uri) {
        const link = make("a", "", path);
        link.href = uri;
        link.rel = "noreferrer";
        caption.append(link);
      } else {
        caption.textContent = path;
      }
      if (!source) return [caption];
      const image = make("img");
      image.alt = "Picture of this item";
      image.addEventListener("error", () => image.replaceWith(make("p", "nothing", "The picture cannot be shown. It should be at:")));
      image.src = source;
      return [image, caption];
    }

    function textOf(number) {
      return blockOf(Math.floor(number / index.textsPerBlock))[number % index.textsPerBlock];
    }

    function blockOf(number) {
      if (!blocks.has(number)) blocks.set(number, JSON.parse(byId(`item-texts-${number}`).textContent));
      return blocks.get(number);
    }

    function textsWith(text) {
      const hits = new Set();
      for (let number = 0; byId(`item-texts-${number}`); number += 1) {
        blockOf(number).forEach((one, place) => {
          if (one.toLowerCase().includes(text)) hits.add(number * index.textsPerBlock + place);
        });
      }
      return hits;
    }
  }

  function shortened(text, most) {
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  }

  function debounced(action, milliseconds) {
    let timer = 0;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(action, milliseconds);
    };
  }
})();
