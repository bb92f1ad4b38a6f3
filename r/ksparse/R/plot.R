# Pictures: coefficients along the path, scores along k, how often columns are selected.

plot.ksparse <- function(x, type = c("path", "deviance"), label = TRUE, ...) {
  type <- match.arg(type)
  if (type == "deviance") {
    draw_line(x$k, 100 * (1 - x$dev / x$nulldev), xlab = "k", ylab = "% of the deviance explained", ...)
    return(invisible(x))
  }
  draw_path(x$beta, label, ...)
  invisible(x)
}

draw_line <- function(x, y, ...) {
  settings <- merged(list(x = x, y = y, type = "b", pch = 20, xaxt = "n"), list(...))
  do.call(graphics::plot, settings)
  whole_ticks(x, ...)
}

# k is a whole number, and its axis says so.
whole_ticks <- function(k, ...) {
  if (is.null(list(...)$xaxt)) graphics::axis(1L, at = unique(round(pretty(k))))
}

# Arguments of the caller in place of the usual ones.
merged <- function(usual, given) {
  usual[names(given)] <- given
  usual
}

# Of several outputs the first, by its name.
draw_path <- function(beta, label, ...) {
  ylab <- if (is.list(beta)) paste("Coefficients:", names(beta)[1L]) else "Coefficients"
  if (is.list(beta)) beta <- beta[[1L]]
  k <- as.integer(colnames(beta))
  used <- Matrix::rowSums(beta != 0) > 0
  values <- t(as.matrix(beta[used, , drop = FALSE]))
  if (!any(used)) values <- matrix(0, length(k), 1L)
  settings <- merged(list(x = k, y = values, type = if (length(k) > 1L) "l" else "p", lty = 1, pch = 20,
                          xlab = "k", ylab = ylab, xaxt = "n", xlim = room(k, if (label) colnames(values))), list(...))
  do.call(graphics::matplot, settings)
  whole_ticks(k, ...)
  graphics::abline(h = 0, col = "grey", lty = 3)
  if (label && any(used)) {
    last <- stats::setNames(values[nrow(values), ], colnames(values))
    label_ends(max(k), last[last != 0])
  }
}

# Room for the names at the right, in shares of the axis.
room <- function(k, names) {
  widest <- if (length(names)) max(nchar(names)) else 0L
  range(k) + c(0, diff(range(k)) * min(0.02 * widest + 0.02, 0.4))
}

# Names at the right ends of lines, moved apart where they would cover each other; the largest first, as many as fit.
label_ends <- function(x, last) {
  gap <- 1.15 * graphics::strheight("X", cex = 0.7)
  limits <- graphics::par("usr")[3:4]
  fit <- max(1, floor(diff(limits) / gap))
  last <- sort(last[order(-abs(last))[seq_len(min(fit, length(last)))]])
  at <- spread_out(last, gap, limits)
  graphics::segments(x, last, x + 0.4 * graphics::strwidth("M"), at, col = "grey", xpd = NA)
  graphics::text(x + 0.2 * graphics::strwidth("M"), at, names(last), pos = 4, cex = 0.7, xpd = NA)
}

# The places nearest to sorted ones that are a gap apart, within limits: what is left of them without the gaps must
# only not fall, which is what isotonic regression is for.
spread_out <- function(at, gap, limits) {
  steps <- gap * (seq_along(at) - 0.5)
  level <- if (length(at) > 1L) stats::isoreg(at - steps)$yf else at - steps
  pmin(pmax(level, limits[1L]), limits[2L] - gap * length(at)) + steps
}

plot.cv.ksparse <- function(x, type = c("cv", "path", "frequencies"), n = 30, ...) {
  type <- match.arg(type)
  switch(type, cv = draw_scores(x, ...), frequencies = draw_frequencies(x, n, ...), path = draw_path(x$path, TRUE, ...))
  invisible(x)
}

# The best mean of every k, with its standard error.
draw_scores <- function(x, ...) {
  cost <- if (x$gain) -x$scores$mean else x$scores$mean
  best <- vapply(split(seq_along(cost), x$scores$k), function(rows) rows[which.min(cost[rows])], 0L)
  cells <- x$scores[best, ]
  low <- cells$mean - cells$se
  high <- cells$mean + cells$se
  settings <- merged(list(x = cells$k, y = cells$mean, pch = 20, xlab = "k", ylab = x$measure,
                               ylim = range(low, high, finite = TRUE), xaxt = "n"), list(...))
  do.call(graphics::plot, settings)
  whole_ticks(cells$k, ...)
  graphics::segments(cells$k, low, cells$k, high, col = "grey")
  graphics::abline(v = unique(c(x$k.min, x$k.1se)), lty = 3)
}

draw_frequencies <- function(x, n, ...) {
  shares <- if (is.null(x$resampled)) x$frequencies else x$resampled
  shares <- sort(shares[shares > 0], decreasing = TRUE)
  shares <- rev(shares[seq_len(min(n, length(shares)))])
  settings <- merged(list(height = shares, horiz = TRUE, las = 1, xlim = c(0, 1), cex.names = 0.7,
                               xlab = if (is.null(x$resampled)) "Share of the folds that select it"
                                      else "Share of the halves of the rows that select it"), list(...))
  do.call(graphics::barplot, settings)
}
