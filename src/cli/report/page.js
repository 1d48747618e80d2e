"use strict";
// Sorts and filters the tables. What is shown stands in the address after `#`, so that a
// view can be linked: #points.sort=-helpful&points.q=tests&points.section=pat
(() => {
  const views = [...document.querySelectorAll("[data-table]")].map(view);

  function view(box) {
    const id = box.dataset.table;
    const heads = [...box.querySelectorAll("thead th")];
    const body = box.querySelector("tbody");
    const rows = [...body.rows].map((row) => ({
      row,
      values: [...row.cells].map((cell) => cell.dataset.v || ""),
      words: [...row.cells].map((cell) => (cell.querySelector("svg") ? "" : cell.textContent)).join(" ").toLowerCase(),
    }));
    const find = box.querySelector("input");
    const select = box.querySelector("select");
    const told = box.querySelector("output");
    const nothing = box.querySelector(".nothing");
    const state = { sort: "", q: "", only: "" };

    heads.forEach((head) => {
      if (!head.dataset.sort) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => {
        const key = head.dataset.key;
        const first = head.dataset.sort === "number" ? "-" + key : key;
        const second = head.dataset.sort === "number" ? key : "-" + key;
        state.sort = state.sort === first ? second : first;
        show();
        remember();
      });
      head.replaceChildren(button);
    });
    find.addEventListener("input", () => { state.q = find.value; show(); remember(); });
    select.addEventListener("change", () => { state.only = select.value; show(); remember(); });
    box.querySelector(".tools").hidden = false;

    function show() {
      const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
      const key = select.dataset.filter;
      let count = 0;
      for (const { row, words: text } of rows) {
        const fits = words.every((word) => text.includes(word)) && (!state.only || row.dataset[key] === state.only);
        row.hidden = !fits;
        count += fits ? 1 : 0;
      }
      const down = state.sort.startsWith("-");
      const column = heads.findIndex((head) => head.dataset.sort && head.dataset.key === state.sort.slice(down ? 1 : 0));
      const sorted = [...rows];
      if (column >= 0) {
        const number = heads[column].dataset.sort === "number";
        const compare = (a, b) => number ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0;
        sorted.sort((a, b) => {
          const order = compare(a.values[column], b.values[column]);
          return down ? -order : order;
        });
      }
      body.append(...sorted.map(({ row }) => row));
      heads.forEach((head, at) => {
        if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      told.textContent = count === rows.length ? count + " in all" : count + " of " + rows.length;
      nothing.hidden = count > 0;
    }

    return {
      write(hash) {
        if (state.sort) hash.set(id + ".sort", state.sort);
        if (state.q) hash.set(id + ".q", state.q);
        if (state.only) hash.set(id + "." + select.dataset.filter, state.only);
      },
      read(hash) {
        state.sort = hash.get(id + ".sort") || "";
        state.q = hash.get(id + ".q") || "";
        const only = hash.get(id + "." + select.dataset.filter) || "";
        state.only = [...select.options].some((option) => option.value === only) ? only : "";
        find.value = state.q;
        select.value = state.only;
        show();
      },
    };
  }

  function remember() {
    const hash = new URLSearchParams();
    views.forEach((view) => view.write(hash));
    history.replaceState(null, "", "#" + hash);
  }

  function recall() {
    const hash = location.hash.slice(1);
    // A jump to a part of the page changes no view.
    if (hash && !hash.includes("=")) return;
    const parameters = new URLSearchParams(hash);
    views.forEach((view) => view.read(parameters));
  }

  addEventListener("hashchange", recall);
  views.forEach((view) => view.read(new URLSearchParams()));
  recall();
})();
