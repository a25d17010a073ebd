"""Tensors in numpy.linalg, SciPy, PyTorch, pandas and matplotlib, each as it is published."""

import copy

import numpy as np
import pytest

import autograd as ag

RNG = np.random.default_rng(0)
R, V = RNG.standard_normal((4, 3)), RNG.standard_normal(3)
M = RNG.standard_normal((3, 3))
S = M @ M.T + 3 * np.eye(3)
B = RNG.standard_normal((2, 3, 3)) + 2 * np.eye(3)
NAMES = {"R": R, "V": V, "M": M, "S": S, "B": B}
LINALG = """norm(M) norm(V) norm(B) norm(B,keepdims=True) norm(M,'fro') norm(M,'nuc') norm(M,2) norm(M,-2) norm(M,1) norm(M,np.inf) norm(V,1) norm(V,3) norm(V,-np.inf)
norm(M,axis=1) norm(M,axis=0,keepdims=True) norm(B,axis=(1,2)) norm(B,'nuc',axis=(1,2)) solve(M,V) solve(M,R[:3]) solve(B,V) solve(B,M) solve(B,B) inv(M) inv(B) det(M) det(B) slogdet(M)[1] slogdet(S).logabsdet
svdvals(R) svd(R,compute_uv=False) svd(R,full_matrices=False).S svd(M)[1] qr(M)[1] qr(R).R qr(R,mode='r') abs(qr(R)[0]) eigh(S).eigenvalues eigvalsh(S) eigvalsh(S,'u') cholesky(S) cholesky(S,upper=True)
pinv(R) pinv(B) pinv(R,rcond=1e-10) pinv(S,hermitian=True) pinv(R,rtol=None) cond(M) cond(M,1) matrix_power(M,3) matrix_power(M,-2) multi_dot([M,S,V]) multi_dot([V,M,S,V]) tensorinv(B.reshape(6,3)[:4,:2].reshape(4,2)[:2],ind=1)
tensorsolve(np.eye(6).reshape(2,3,6)+.1,R[:2]) trace(B) diagonal(B) cross(V,M[0]) outer(V,V) tensordot(M,S,axes=1) matmul(M,S) matrix_transpose(B) matrix_norm(B) matrix_norm(M,ord='nuc') vector_norm(M) vector_norm(M,axis=1,ord=1)
vecdot(M,S) lstsq(R,R[:,0]+1)[0] lstsq(R,R@M+1)[0] lstsq(R,R@M+1)[1] lstsq(R,R)[3] eig(S).eigenvalues.real eigvals(S).real"""
OTHERS = """np.broadcast_arrays(V,M)[0] np.average(M,axis=0,weights=V) np.average(M) np.cross(V,M) np.ptp(M,axis=1) np.trapezoid(M,axis=0) np.trapezoid(V,[0,1,3]) np.gradient(V) np.gradient(M,2.0,axis=1) np.gradient(M)[0]
np.pad(M,1) np.pad(M,((0,1),(2,0)),constant_values=3) np.rot90(M) np.take(M,[2,0],axis=1) np.take(M,[4,1]) np.append(M,R,axis=0) np.append(V,V) np.array_split(R,3)[0] np.hsplit(M,3)[1] np.cov(R,ddof=0) np.corrcoef(R) np.meshgrid(V,V)[0]
np.vdot(M,S) np.matrix_transpose(B) np.diagflat(V) np.fliplr(M) np.einsum('ij,j->i',M,[1,2,3]) np.dot(np.eye(3,dtype=int),V) np.matmul(M,[1,2,3]) np.inner(M,[1,2,3]) np.kron(M,V) np.tensordot(M,np.eye(3,dtype=int)) np.astype(M,np.float64)*2"""


def evaluated(text, convert):
    return eval(text, {"np": np, "abs": abs, **{name: convert(value) for name, value in NAMES.items()}})


@pytest.mark.parametrize("text", [f"abs(np.linalg.{call[4:]}" if call.startswith("abs(") else f"np.linalg.{call}" for call in LINALG.split()] + OTHERS.split())
def test_numpy_functions_are_recorded(text):
    expected, found = evaluated(text, lambda a: a), evaluated(text, lambda a: ag.tensor(a, requires_grad=True))
    assert type(found) is ag.Tensor and found.requires_grad and found.shape == np.shape(expected) and found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-9, atol=1e-12)
    used = {name: ag.tensor(value, requires_grad=True) for name, value in NAMES.items() if name in text.replace("].S", "").replace("logabsdet", "").replace(").R", "").replace(").S", "")}

    def call(*xs):
        given = dict(zip(used, xs))
        if "S" in given and "linalg" in text:                            # Cholesky and the like read a symmetric matrix
            given["S"] = (given["S"] + given["S"].T) / 2
        return eval(text, {"np": np, "abs": abs, **given})

    assert ag.gradcheck(call, list(used.values()))
    assert ag.gradgradcheck(call, list(used.values()))


def test_numpy_linalg_gives_what_numpy_gives():
    whole = ag.tensor([[1, 2], [3, 5]])
    assert np.linalg.inv(whole).dtype == ag.float64 and np.linalg.det(whole).item() == pytest.approx(-1) and np.linalg.matrix_power(whole, 2).dtype == ag.int64
    assert [np.linalg.matrix_rank(ag.tensor(x)).item() for x in (np.eye(3), np.ones((3, 3)), np.ones(3), np.zeros(3))] == [3, 1, 1, 0]
    assert np.linalg.matrix_rank(ag.eye(3), tol=2.0).item() == 0 and np.linalg.matrix_rank(ag.tensor(np.diag([1.0, 0.1])), rtol=0.5).item() == 1
    solution, residuals, rank, values = np.linalg.lstsq(ag.tensor(np.ones((4, 2))), np.ones(4), rcond=None)      # not of full rank: the shortest solution
    np.testing.assert_allclose(solution, [0.5, 0.5])
    assert residuals.shape == (0,) and rank == 1 and values.shape == (2,)
    assert type(np.linalg.svd(ag.tensor(M))).__name__ == "SVDResult" and type(np.linalg.eigh(ag.tensor(S))).__name__ == "EighResult"
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        np.linalg.inv(ag.zeros(2, 2))
    assert np.median(ag.tensor(M)) == np.median(M) and np.array_equal(np.unique(ag.tensor([2, 1, 2])), [1, 2])      # by their values
    both = np.divmod(ag.tensor([5.0, 7.0]), 2)
    assert type(both) is tuple and both[1].tolist() == [1.0, 1.0]
    for call in (np.median, np.unique, np.spacing, lambda x: np.column_stack([np.percentile(x, 50)])):
        with pytest.raises(RuntimeError, match=r"detach\(\).numpy"):
            call(ag.tensor(M, requires_grad=True))


SCIPY = """special.gamma(X) special.jv(1,X) special.softmax(X) special.logsumexp(X,axis=0) linalg.lu(X)[2] linalg.expm(X) linalg.solve(X,X) linalg.sqrtm(X) stats.norm.pdf(X) stats.zscore(X) stats.pearsonr(X[0],X[1])[0]
stats.spearmanr(X[0],X[1])[0] stats.ttest_ind(X[0],X[1]).pvalue stats.entropy(X) stats.rankdata(X) stats.linregress(X[0],X[1]).slope ndimage.gaussian_filter(X,1) ndimage.zoom(X,2) ndimage.convolve(X,X) sparse.csr_matrix(X).toarray()
sparse.csr_matrix(np.eye(3))@X sparse.coo_array(X).sum() sparse.coo_matrix((X[0],([0,1,2],[0,1,2]))).toarray() signal.fftconvolve(X,X) fft.fft(X).real interpolate.CubicSpline([0,1,2],X)(0.5) integrate.simpson(X) spatial.distance.cdist(X,X)
spatial.cKDTree(X).query(X)[0] optimize.linear_sum_assignment(X)[1] optimize.minimize(lambda_p:((p-X.reshape(-1))**2).sum(),X.reshape(-1)*0).x.round(3) optimize.root(lambda_p:p-X[0],X[1]).x optimize.curve_fit(lambda_x,k:k*x,X[0],2*X[0])[0]
optimize.nnls(X,X[0])[0] optimize.linprog(X[0],A_ub=X,b_ub=X[0]+1).x integrate.solve_ivp(lambda_t,y:-X@y,(0,1),X[0]).y[:,-1]"""


@pytest.mark.filterwarnings("ignore")
def test_scipy():
    scipy = pytest.importorskip("scipy", reason="scipy is not installed")
    array = np.abs(M) + 0.1
    for text in SCIPY.replace("lambda_", "lambda ").replace("\n", " ").replace("lambda ", "lambda\0").split(" "):
        text = f"scipy.{text}".replace("\0", " ")
        expected, found = (eval(text, {"np": np, "scipy": scipy, "X": x}) for x in (array, ag.tensor(array)))
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5, err_msg=text)
        with pytest.raises((RuntimeError, ValueError), match=r"detach\(\).numpy|unrecognized"):
            eval(text, {"np": np, "scipy": scipy, "X": ag.tensor(array, requires_grad=True)})
    for name in "erf erfc expit gammaln psi ndtr log_ndtr i0 i1 i0e i1e entr erfcx".split():       # recorded
        call = getattr(scipy.special, name)
        x = ag.tensor(array, requires_grad=True)
        np.testing.assert_allclose(call(x).detach().numpy(), call(array), rtol=1e-9)
        assert ag.gradcheck(call, [x])
    x = ag.tensor(array, requires_grad=True)
    assert ag.gradcheck(lambda x: scipy.special.xlogy(x, array), [x]) and isinstance(scipy.special.gamma(x.detach()), ag.Tensor)

    def loss(p):                                                          # a loss and its gradient for an optimiser
        q = ag.tensor(p, requires_grad=True)
        value = ((q - 3) ** 2).sum()
        value.backward()
        return value.item(), q.grad.numpy()

    np.testing.assert_allclose(scipy.optimize.minimize(loss, ag.zeros(4, dtype=ag.float64), jac=True, method="L-BFGS-B").x, 3, rtol=1e-5)


DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("name", DTYPES.split())
def test_pytorch_shares_memory(name):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    mine = getattr(ag, name)
    theirs = torch.tensor([[1, 0, 1], [0, 1, 1]]).to(getattr(torch, name))
    for view in (theirs, theirs.T, theirs[:, ::2], theirs[0, 0], theirs[:0]):
        for take in (ag.as_tensor, ag.asarray, ag.from_dlpack):
            found = take(view)
            assert found.dtype == mine and found.shape == view.shape and found.tolist() == view.tolist() and not found.requires_grad
            assert found.numel() == 0 or found.data_ptr() == view.data_ptr()
        copied = ag.tensor(view)
        assert copied.dtype == mine and copied.tolist() == view.tolist() and (view.numel() == 0 or copied.data_ptr() != view.data_ptr())
    ours = ag.tensor([[1, 0, 1], [0, 1, 1]]).to(mine)
    for view in (ours, ours.T, ours[:, ::2], ours[0, 0], ours[:0]):
        for take in (torch.from_dlpack, torch.as_tensor):
            found = take(view)
            assert found.dtype == getattr(torch, name) and tuple(found.shape) == view.shape and found.tolist() == view.tolist()
            assert found.numel() == 0 or found.data_ptr() == view.data_ptr()
    there = torch.from_dlpack(ours)
    ours[0, 0] = 0
    assert there[0, 0] == 0
    back = ag.from_dlpack(there)
    del there, ours
    back[0, 1] = 1                                                        # the memory lives as long as anyone holds it
    assert back.tolist() == [[0, 1, 1], [0, 1, 1]]
    assert ag.from_dlpack(theirs, copy=True).data_ptr() != theirs.data_ptr()
    capsule = torch.utils.dlpack.to_dlpack(theirs)                        # of before DLPack 1.0, without a word on writing
    found = ag.from_dlpack(capsule)
    found[1, 0] = 1
    assert found.dtype == mine and found.data_ptr() == theirs.data_ptr() and theirs[1, 0].item() == 1
    with pytest.raises(BufferError, match="taken once"):
        ag.from_dlpack(capsule)
    assert ag.from_dlpack(torch.utils.dlpack.to_dlpack(theirs), copy=True).data_ptr() != theirs.data_ptr()
    assert ag.as_tensor(theirs, dtype=ag.float64).tolist() == theirs.to(torch.complex128).real.tolist() if name[0] != "c" else True


def test_sparse_products():
    """A sparse matrix of SciPy is a constant; its product with a Tensor has derivatives."""
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    x, v = ag.tensor(R[:3], requires_grad=True), ag.tensor(V, requires_grad=True)
    dense = np.where(np.abs(R) > 0.6, R, 0.0)
    for matrix in (sparse.csr_matrix(dense), sparse.coo_array(dense), sparse.lil_matrix(dense.astype(np.float32)), sparse.csc_array(dense * (1 + 2j)), sparse.csr_array((dense > 0).astype(int))):
        full = matrix.toarray()
        for call, given, expected in ((lambda y, m: ag.matmul(m, y), x, full @ R[:3]), (lambda y, m: y.T @ m.T, x, (full @ R[:3]).T), (lambda y, m: y @ m.T, v, full @ V), (lambda y, m: np.matmul(y.T, m.T), x, (full @ R[:3]).T)):
            np.testing.assert_allclose(call(given, matrix).detach().numpy(), expected)
            assert ag.gradcheck(lambda y: call(y, matrix), [given]) and ag.gradgradcheck(lambda y: call(y, matrix), [given])
    matrix = sparse.csr_array(dense)
    assert np.dot(matrix, x).requires_grad and ag.matmul(matrix, x.float()).dtype == ag.float32 and type(matrix @ x.detach()) is np.ndarray
    for wrong, words in ((lambda: ag.ones(3) @ matrix, "3 and 4x3"), (lambda: ag.ones(2, 3, 4) @ matrix, "not 3 dimensions"), (lambda: matrix @ x, "detach"), (lambda: 2 * x.T * sparse.csr_matrix(dense), "x @ matrix"), (lambda: ag.tensor(matrix), "csr_array; use its toarray")):
        with pytest.raises((RuntimeError, TypeError), match=words):
            wrong()


def test_what_pytorch_can_not_share():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    theirs, ours = torch.ones(2, requires_grad=True), ag.ones(2, requires_grad=True)
    for call in (lambda: ag.as_tensor(theirs), lambda: ag.tensor(theirs), lambda: ag.from_dlpack(theirs * 2), lambda: torch.from_dlpack(ours), lambda: torch.tensor(ours * 2)):
        with pytest.raises(BufferError, match=r"tensor.detach\(\)"):
            call()
    assert torch.from_dlpack(ours.detach()).data_ptr() == ours.data_ptr()
    backwards = ag.as_tensor(np.arange(3.0)[::-1])
    assert torch.from_dlpack(backwards).tolist() == [2.0, 1.0, 0.0]       # a copy: PyTorch's importer would end the process
    with pytest.raises(BufferError, match="run backwards"):
        torch.from_dlpack(backwards, copy=False)
    with pytest.raises(BufferError, match="resolve_neg"):                 # DLPack has no such bit, and PyTorch gives the wrong sign
        ag.tensor(torch.tensor([1 + 2j]).conj().imag)
    for mixed in (lambda: ag.ones(2) + torch.ones(2), lambda: ag.add(ag.ones(2), torch.ones(2)), lambda: torch.ones(2) * ag.ones(2)):
        with pytest.raises(TypeError, match="torch.Tensor; as_tensor"):
            mixed()
    assert ag.arange(3)[torch.tensor([2, 0])].tolist() == [2, 0] and ag.arange(3)[torch.tensor([True, False, True])].tolist() == [0, 2]
    for wrong in (torch.ones(2, dtype=torch.complex64).conj(), torch.ones(2, device="meta"), torch.eye(2).to_sparse()):
        with pytest.raises((BufferError, RuntimeError)):
            ag.as_tensor(wrong)
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        ag.as_tensor(fixed)[0] = 1
    assert not np.from_dlpack(ag.as_tensor(fixed)).flags.writeable
    assert ag.tensor([torch.tensor(1.0), torch.tensor(2.0)]).dtype == ag.float32 and ag.tensor(torch.tensor(2.5)).item() == 2.5
    assert ag.nn.Linear(2, 2).weight.detach().__dlpack_device__() == (1, 0)


def test_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame, x = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6]}), ag.arange(6.0).reshape(3, 2)
    assert ag.tensor(frame).tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]] and ag.tensor(frame["b"]).dtype == ag.int64 and ag.tensor(frame.index).tolist() == [0, 1, 2]
    assert ag.tensor(frame["a"][frame["a"] > 1], dtype=ag.float32).tolist() == [2.0, 3.0] and ag.tensor(frame.to_numpy()).shape == (3, 2)
    assert ag.as_tensor(frame["b"]).data_ptr() == frame["b"].to_numpy().ctypes.data and ag.tensor(pd.Series([1, 2], dtype="Int64")).tolist() == [1, 2]
    for words in (pd.DataFrame({"a": ["x"]}), pd.Series(pd.to_datetime(["2020-01-01"]))):
        with pytest.raises(TypeError, match="The only supported types"):
            ag.tensor(words)
    made = pd.DataFrame(x, columns=["u", "v"])
    assert made["v"].tolist() == [1.0, 3.0, 5.0] and made["v"].dtype == np.float32 and pd.DataFrame({"a": x[:, 0], "b": ag.arange(3)})["b"].dtype == np.int64
    assert pd.Series(x[:, 0]).sum() == 6 and frame.assign(c=x[:, 1])["c"].tolist() == [1.0, 3.0, 5.0]
    assert frame.iloc[ag.tensor([0, 2])]["b"].tolist() == [4, 6] and (frame["a"] + ag.ones(3)).tolist() == [2.0, 3.0, 4.0]
    mask, rows = ag.tensor([True, False, True]), ag.tensor([2, 0])
    for index, array in ((mask, mask.numpy()), (rows, rows.numpy()), (rows[0], 2)):
        for found, expected in ((frame.loc[index], frame.loc[array]), (frame.iloc[index], frame.iloc[array]), (frame["b"].loc[index], frame["b"].loc[array]), (frame.loc[index, "a"], frame.loc[array, "a"])):
            assert found.equals(expected) if hasattr(expected, "equals") else found == expected
    assert frame[mask].equals(frame[mask.numpy()]) and frame["a"][mask].tolist() == [1.0, 3.0] and frame["a"].where(mask, 0.0).tolist() == [1.0, 0.0, 3.0]
    assert frame["b"].isin(ag.tensor([4, 6])).tolist() == [True, False, True] and frame.groupby(mask)["b"].sum().tolist() == [5, 10] and frame.groupby([mask, "b"]).size().tolist() == [1] * 3
    assert ag.arange(3)[frame["a"] > 1].tolist() == [1, 2] and x[frame["b"] > 4, 0].tolist() == [2.0, 4.0] and ag.arange(3)[pd.Index([2, 0])].tolist() == [2, 0]
    loader = ag.utils.data.DataLoader(ag.utils.data.TensorDataset(ag.tensor(frame), ag.tensor(frame["b"])), batch_size=2)
    assert [len(batch[0]) for batch in loader] == [2, 1]
    for make in (pd.Series, pd.DataFrame):
        with pytest.raises(RuntimeError, match=r"detach\(\).numpy"):
            make(ag.ones(2, 2, requires_grad=True)[0])


def test_matplotlib():
    matplotlib = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    v, image = ag.arange(1.0, 5.0), ag.arange(1.0, 5.0).reshape(2, 2)
    calls = [lambda p, v, i: p.plot(v), lambda p, v, i: p.plot(v, v * v, "o"), lambda p, v, i: p.bar(v, v), lambda p, v, i: p.bar(["a", "b", "c", "d"], v), lambda p, v, i: p.imshow(i),
             lambda p, v, i: p.hist(v), lambda p, v, i: p.scatter(v, v, c=v, s=v), lambda p, v, i: p.errorbar(v, v, yerr=v), lambda p, v, i: p.fill_between(v, v, v + 1),
             lambda p, v, i: p.boxplot(v), lambda p, v, i: p.contourf(i), lambda p, v, i: p.pcolormesh(i), lambda p, v, i: p.stem(v), lambda p, v, i: p.hist2d(v, v), lambda p, v, i: p.semilogy(v),
             lambda p, v, i: p.plot(v[:2], i), lambda p, v, i: p.hist(i), lambda p, v, i: p.boxplot(i), lambda p, v, i: p.errorbar(v[:2], v[:2], yerr=i), lambda p, v, i: p.plot(v, linewidth=v[0].item())]
    shown = []
    for make in (lambda x: x, lambda x: x.numpy()):
        figure = matplotlib.Figure(figsize=(4, 4), dpi=30)
        canvas = FigureCanvasAgg(figure)
        for axes, call in zip(figure.subplots(4, 5).flat, calls, strict=True):
            call(axes, make(v), make(image))
        canvas.draw()
        shown.append(np.array(canvas.buffer_rgba()))
    assert (shown[0] == shown[1]).all()                                   # the same pixels
    axes = matplotlib.Figure().subplots()
    half = image.bfloat16()
    assert axes.text(v[0], v[1], f"{v[2]:.2f}").get_text() == "3.00"
    assert axes.plot(half)[1].get_ydata().tolist() == [2.0, 4.0] and axes.imshow(half).get_array().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    for call in calls:                                                    # as with PyTorch: what would lose a gradient is an error
        with pytest.raises((RuntimeError, TypeError), match=r"detach\(\).numpy|Failed to convert"):
            call(axes, v.requires_grad_() * 1, image.requires_grad_() * 1)


def test_copies_share_memory():
    x = ag.ones(2, requires_grad=True) * 2
    found = copy.copy(x)
    assert found.data_ptr() == x.data_ptr() and found.is_leaf and found.requires_grad and type(copy.copy(ag.nn.Parameter(x.detach()))) is ag.nn.Parameter


def test_tensorboardx(tmp_path):
    board = pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    from tensorboardX.proto.event_pb2 import Event
    with board.SummaryWriter(str(tmp_path)) as writer:
        loss = ag.ones(3, requires_grad=True).sum()
        writer.add_scalar("loss", loss, 1)
        writer.add_scalars("both", {"a": loss, "b": 2.0}, 1)
        writer.add_histogram("weights", ag.nn.Linear(3, 2).weight, 1)
        writer.add_image("image", ag.rand(3, 4, 4), 1)
    (file,) = tmp_path.glob("events*")                                     # the numbers of "both" lie in folders
    data, found = file.read_bytes(), {}
    while data:                                                           # length, its checksum, an event, its checksum
        size = int.from_bytes(data[:8], "little")
        found |= {value.tag: value for value in Event.FromString(data[12:12 + size]).summary.value}
        data = data[16 + size:]
    assert found["loss"].simple_value == 3.0 and found["weights"].histo.num == 6 and (found["image"].image.height, found["image"].image.width) == (4, 4)
